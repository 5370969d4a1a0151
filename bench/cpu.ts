import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds in a tick of /proc, on every Linux that Node supports. */
const tickMs = 10

type Usage = { pid: number; parent: number; ticks: number }

/** Milliseconds of cores that a process and its descendants have used, those that ended included. */
export function cpuMsOfTree(root: number): number {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? usageOf(Number(name)) : []))
  const tree = new Set([root])
  for (let before = 0; before < tree.size; ) {
    before = tree.size
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid)
  }
  const ticks = all.filter(({ pid }) => tree.has(pid)).reduce((sum, usage) => sum + usage.ticks, 0)
  return ticks * tickMs
}

function usageOf(pid: number): Usage[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of a program, in parentheses, may contain anything.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0)
    return [{ pid, parent: fields[1]!, ticks }]
  } catch {
    return []
  }
}

import { readdirSync, readFileSync } from 'node:fs'

export type ProcessEntry = { pid: number; parent: number; name: string; ticks: number }

/** A process and its descendants, as /proc shows them. */
export function processTree(root: number): ProcessEntry[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? entryOf(Number(name)) : []))
  const tree = new Set([root])
  for (let before = 0; before < tree.size; ) {
    before = tree.size
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid)
  }
  return all.filter(({ pid }) => tree.has(pid))
}

function entryOf(pid: number): ProcessEntry[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of a program, in parentheses, may contain anything.
    const end = text.lastIndexOf(')')
    const fields = text
      .slice(end + 2)
      .split(' ')
      .map(Number)
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0)
    return [{ pid, parent: fields[1]!, name: text.slice(text.indexOf('(') + 1, end), ticks }]
  } catch {
    return []
  }
}

/** Milliseconds in a tick of /proc, on every Linux that Node supports. */
const tickMs = 10

/** Milliseconds of cores that processes have used. */
export const cpuMsOf = (entries: readonly ProcessEntry[]): number =>
  entries.reduce((sum, { ticks }) => sum + ticks, 0) * tickMs

/** Milliseconds of cores that a process and its descendants have used, those that ended included. */
export const cpuMsOfTree = (root: number): number => cpuMsOf(processTree(root))

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { startLab } from './lab.ts'
import { measureBusyCores } from './machine.ts'
import { type ProcessEntry, processTree } from './process-tree.ts'
import type { Bench, Run } from './run.ts'
import { startProcesses } from './scale/setup.ts'

/** Time for a start to settle, so that two runs see the same. */
const restMs = (run: Run) => run.amount(15_000, 5_000, 0)

export const residentBench: Bench = {
  name: 'resident',
  about: 'memory of the sandbox, of serve and of worker, some seconds after their start',
  measure: async (run) => [...(await measureSandbox(run)), ...(await measureProduction(run))],
}

/** The sandbox as a user starts it, by the programs that it consists of. */
async function measureSandbox(run: Run): Promise<Figure[]> {
  const busy = measureBusyCores()
  const lab = await startLab(run, ['--data-dir', join(await run.directory(), 'data')])
  await sleep(restMs(run))
  const tree = processTree(lab.pid)
  const programs: [string, (entry: ProcessEntry) => boolean][] = [
    ['in all', () => true],
    ['its own process', ({ pid }) => pid === lab.pid],
    ['PostgreSQL', ({ name }) => name.startsWith('postgres')],
    ['nodes of the chains', ({ pid, name }) => pid !== lab.pid && !name.startsWith('postgres')],
  ]
  const coresBusy = busy()
  const figures = programs.map(
    ([what, isOf]): Figure => ({
      name: `memory of a sandbox with ${lab.blockchains.length} chains: ${what}`,
      measured: { value: residentMb(tree.filter(isOf)), unit: 'MB' },
      coresBusy,
    }),
  )
  await lab.stop()
  return figures
}

/** One process of each kind, as an operator starts them. */
async function measureProduction(run: Run): Promise<Figure[]> {
  const busy = measureBusyCores()
  const platform = await startPlatform(run, 0)
  const kinds = ['serve', 'worker'] as const
  const started = []
  for (const kind of kinds) started.push(...(await startProcesses({ run, platform }, kind, 1)))
  await sleep(restMs(run))
  const coresBusy = busy()
  return started.map(({ child }, index) => ({
    name: `memory of one ${kinds[index]}, one chain`,
    measured: { value: residentMb(processTree(child.pid!)), unit: 'MB' },
    coresBusy,
  }))
}

/** Megabytes that processes have in memory, where a page that several share counts once. */
function residentMb(entries: readonly ProcessEntry[]): number {
  const kilobytes = entries.map(({ pid }) => {
    try {
      return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
    } catch {
      return 0
    }
  })
  return (kilobytes.reduce((sum, each) => sum + each, 0) * 1_024) / 1e6
}

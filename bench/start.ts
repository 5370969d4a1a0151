import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { startedByDefault } from '#sandbox/test-networks'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import { fromPackage, fromSource, startProgram } from './processes.ts'
import type { Bench, Run } from './run.ts'
import { median } from './statistics.ts'

/** Seconds until the ready line. */
const promises = { first: 8, restart: 3 }

export const startBench: Bench = {
  name: 'start',
  about: 'first start and restart of the sandbox',
  measure: async (run) => {
    const forms: [string, readonly string[]][] = [['from source', fromSource]]
    const isBuilt = await access(fromPackage[0]!).then(
      () => true,
      () => false,
    )
    if (isBuilt) forms.push(['package', fromPackage])
    else run.report('dist/main.js is not there: npm run build, to measure the package too')
    const figures: Figure[] = []
    for (const [name, args] of forms.slice(0, run.amount(2, 2, 1)))
      figures.push(...(await measure(run, name, args)))
    return figures
  },
}

async function measure(run: Run, form: string, args: readonly string[]): Promise<Figure[]> {
  const times = { first: [] as number[], restart: [] as number[] }
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(5, 1, 1); round++) {
    const dataDir = join(await run.directory(), 'data')
    times.first.push(await secondsToReady(run, args, dataDir))
    times.restart.push(await secondsToReady(run, args, dataDir))
    run.report(
      `${form}: first ${times.first.at(-1)!.toFixed(2)} s, again ${times.restart.at(-1)!.toFixed(2)} s`,
    )
  }
  const coresBusy = busy()
  return (['first', 'restart'] as const).map((kind) => ({
    name: `${kind === 'first' ? 'first start' : 'restart'}, all chains (${form})`,
    measured: { value: median(times[kind]), unit: 's' },
    promise: { max: promises[kind] },
    coresBusy,
  }))
}

/** Starts the program as a user does, until its line of JSON; stops it before resolving. */
async function secondsToReady(run: Run, args: readonly string[], dataDir: string): Promise<number> {
  const startedMs = performance.now()
  const { line, stop } = await startProgram(run, {
    args: [...args, 'sandbox', '--json', '--port', '0', '--data-dir', dataDir],
    env: { DATABASE_URL: '' },
    readyOn: 'stdout',
    isReady: (text) => text.startsWith('{'),
  })
  const seconds = (performance.now() - startedMs) / 1000
  const { chains } = JSON.parse(line) as { chains: unknown[] }
  if (chains.length !== startedByDefault().length)
    throw new Error(`it started ${chains.length} chains, not ${startedByDefault().length}`)
  await stop()
  return seconds
}

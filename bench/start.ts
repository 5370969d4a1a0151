import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startedByDefault } from '#sandbox/test-networks'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import { fromPackage, fromSource, root, startProgram } from './processes.ts'
import type { Bench, Run } from './run.ts'
import { median } from './statistics.ts'

/** A form of the program: arguments of `node`, and the promised seconds until the ready line. */
type Form = { name: string; args: readonly string[]; promises: { first: number; restart?: number } }
const source: Form = { name: 'from source', args: fromSource, promises: { first: 3 } }
const packaged: Form = { name: 'package', args: fromPackage, promises: { first: 2, restart: 1 } }

/** Seconds that a command takes which asks nothing of a server. */
const commandMax = 0.4

export const startBench: Bench = {
  name: 'start',
  about: 'first start and restart of the sandbox',
  measure: async (run) => {
    const forms = [source]
    const isBuilt = await access(fromPackage[0]!).then(
      () => true,
      () => false,
    )
    if (isBuilt) forms.push(packaged)
    else run.report('dist/main.js is not there: npm run build, to measure the package too')
    const figures: Figure[] = []
    for (const form of forms.slice(0, run.amount(2, 2, 1)))
      figures.push(...(await measure(run, form)), await measureCommand(run, form))
    return figures
  },
}

async function measure(run: Run, { name, args, promises }: Form): Promise<Figure[]> {
  const times = { first: [] as number[], restart: [] as number[] }
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(5, 1, 1); round++) {
    const dataDir = join(await run.directory(), 'data')
    times.first.push(await secondsToReady(run, args, dataDir))
    times.restart.push(await secondsToReady(run, args, dataDir))
    run.report(
      `${name}: first ${times.first.at(-1)!.toFixed(2)} s, again ${times.restart.at(-1)!.toFixed(2)} s`,
    )
  }
  const coresBusy = busy()
  return (['first', 'restart'] as const).map((kind) => ({
    name: `${kind === 'first' ? 'first start' : 'restart'}, all chains (${name})`,
    measured: { value: median(times[kind]), unit: 's' },
    ...(promises[kind] && { promise: { max: promises[kind] } }),
    coresBusy,
  }))
}

async function measureCommand(run: Run, { name, args, promises }: Form): Promise<Figure> {
  const seconds: number[] = []
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(9, 3, 1); round++) {
    const startedMs = performance.now()
    await promisify(execFile)(process.execPath, [...args, 'help', 'keys'], { cwd: root })
    seconds.push((performance.now() - startedMs) / 1_000)
  }
  return {
    name: `bezant help keys (${name})`,
    measured: { value: median(seconds), unit: 's' },
    ...(promises.restart && { promise: { max: commandMax } }),
    coresBusy: busy(),
  }
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

import { setServerOfRun } from '../src/kit/environment.ts'
import { startServer } from '../src/kit/server-process.ts'
import { type Sandbox, startSandbox } from '../src/kit/testing.ts'
import { measureBusyCores } from './machine.ts'
import { compiled } from './processes.ts'
import type { Bench, Run } from './run.ts'
import { median } from './statistics.ts'

/** Seconds until a further sandbox of a test run is ready. */
const promisedS = 1.1
const chains = { blockchains: ['BASE-SEPOLIA'] }

export const kitBench: Bench = {
  name: 'kit',
  about: 'a first and a further sandbox of a test run',
  measure: async (run) => {
    const { kit } = await compiled()
    const times = { first: [] as number[], further: [] as number[] }
    const busy = measureBusyCores()
    for (let round = 0; round < run.amount(5, 1, 1); round++) await measureRun(run, kit, times)
    const first = median(times.first)
    const further = median(times.further)
    return [
      {
        name: 'kit: a further sandbox of a test run, one chain',
        measured: { value: further, unit: 's' },
        reference: { value: first, unit: 's', what: 'the first, with its server' },
        ratio: further / first,
        promise: { max: promisedS },
        coresBusy: busy(),
      },
    ]
  },
}

/** Starts the server of a run with a first sandbox, and then further ones, one after another. */
async function measureRun(
  run: Run,
  program: string,
  times: { first: number[]; further: number[] },
): Promise<void> {
  const startedMs = performance.now()
  const server = await startServer([program])
  run.atEnd(server.stop)
  setServerOfRun(server.url)
  try {
    const sandboxes: Sandbox[] = [await startSandbox(chains)]
    times.first.push((performance.now() - startedMs) / 1000)
    for (let each = 0; each < run.amount(5, 3, 1); each++) {
      const fromMs = performance.now()
      sandboxes.push(await startSandbox(chains))
      times.further.push((performance.now() - fromMs) / 1000)
    }
    run.report(`first ${times.first.at(-1)!.toFixed(2)} s, further ${times.further.at(-1)!.toFixed(2)} s`)
    await Promise.all(sandboxes.map((sandbox) => sandbox.stop()))
  } finally {
    setServerOfRun(undefined)
    await server.stop()
  }
}

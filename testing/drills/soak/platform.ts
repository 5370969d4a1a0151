import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { quietPort } from '#testing/processes/quiet-port'
import type { Ground } from './ground.ts'
import type { LogWatch } from './log-watch.ts'
import { type PlatformProcess, superviseProcess, untilReady } from './processes.ts'

/** Two processes of each kind, as an operator starts them on one machine. */
const kinds = ['serve', 'serve', 'worker', 'worker'] as const

/** Starts the processes, one after another, into the list: those that have started are there to be stopped if a later one fails. */
export async function startPlatform(
  { directory, program, env }: Ground,
  watch: LogWatch,
  onFailure: (what: string) => void,
  started: PlatformProcess[],
): Promise<void> {
  const dataDir = join(directory, 'platform')
  mkdirSync(dataDir)
  for (const kind of kinds) {
    const port = await quietPort()
    const pages = await quietPort()
    const number = started.filter((each) => each.kind === kind).length + 1
    started.push(
      superviseProcess({
        program,
        kind,
        name: `${kind} ${number}`,
        args: ['--port', String(port), '--data-dir', dataDir],
        env: { ...env, BEZANT_PAGE_PORT: String(pages) },
        ...(kind === 'serve' && { url: `http://127.0.0.1:${port}` }),
        logFile: join(directory, 'processes.log'),
        watch,
        onFailure,
      }),
    )
    await untilReady(started)
  }
}

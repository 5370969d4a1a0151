/**
 * The server of one test run: a process that starts instances for the test processes that ask it. It lives as long as its standard input
 * is open, which the runner holds: when the runner ends, even by a kill, it stops everything and ends too.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '#runtime/log/log'
import { startWatchdog } from '#sandbox/end-processes-after-kill'
import type { ServerLine } from '../protocol.ts'
import { openInstances } from './instances.ts'
import { serveInstances } from './serve-instances.ts'

/** After it, the watchdogs remove what is left. */
const stopMs = 15_000

const say = (line: ServerLine) => void process.stdout.write(`${JSON.stringify(line)}\n`)

const left = new Promise<string | undefined>((resolve) => {
  process.stdin
    .on('end', () => resolve(undefined))
    .on('error', () => resolve(undefined))
    .resume()
  process.on('SIGTERM', () => resolve(undefined))
  // A terminal sends Ctrl-C to the whole group: the runner then ends, and this process after it.
  process.on('SIGINT', () => undefined)
})
// These pipes close when the runner ends.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

async function serve(directory: string): Promise<number> {
  const instances = await openInstances(directory, createLog('error'))
  const { url, close } = await serveInstances(instances)
  say({ url })
  const reason = await Promise.race([left, instances.broken])
  setTimeout(() => process.exit(1), stopMs).unref()
  await close()
  await instances.stop()
  if (reason !== undefined) process.stderr.write(`${reason}\n`)
  return reason === undefined ? 0 : 1
}

async function run(): Promise<never> {
  const directory = await mkdtemp(join(tmpdir(), 'bezant-kit-'))
  // The directory has a root key, and a process that is killed cannot remove it itself.
  const watchdog = startWatchdog(directory)
  const code = await serve(directory).catch((error: Error) => {
    say({ message: error.message })
    return 1
  })
  await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  watchdog.dismiss()
  process.exit(code)
}

void run()

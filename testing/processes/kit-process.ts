/**
 * A process of a test run, to be killed. `runner FILE` starts the server of the run from that compiled program, as the set-up of a runner
 * does, and a sandbox on it; `test` starts a sandbox on the server that its environment names. Either prints a line and waits.
 */
import { setServerOfRun } from '../../src/kit/environment.ts'
import { startServer } from '../../src/kit/server-process.ts'
import { startSandbox } from '../../src/kit/testing.ts'

export type KitProcessLine = { server?: string; serverPid?: number; url: string }

async function run([mode, program]: string[]): Promise<void> {
  const server = mode === 'runner' ? await startServer([program!]) : undefined
  if (server) setServerOfRun(server.url)
  const { url } = await startSandbox()
  const line: KitProcessLine = { url, ...(server && { server: server.url, serverPid: server.pid }) }
  process.stdout.write(`${JSON.stringify(line)}\n`)
  process.stdin.resume()
}

void run(process.argv.slice(2))

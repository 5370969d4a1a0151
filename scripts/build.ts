import { chmod, readFile, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { buildKit, kitEntries } from './build-kit.ts'

/**
 * Compiles `src` to `dist`, the JavaScript that the package ships: a file for each program and entry, and files that they share. The
 * loader takes seconds for two thousand modules. esbuild takes a tenth of the compiler's time; `npm run check` checks the types.
 */
if (process.argv.includes('--help')) {
  process.stdout.write('npm run build: compiles src to dist.\n')
  process.exit(0)
}

/** The programs, and what others import of the package. */
const entryPoints = ['main', 'kit/server/main', ...kitEntries.map((name) => `kit/${name}`)]

/** Modules find files beside themselves: each still sees the address that it has in `src`, seen from `dist`. */
const ownAddresses: Plugin = {
  name: 'own-addresses',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      const compiled = relative('src', path).replaceAll(sep, '/').replace(/\.ts$/, '.js')
      const address = `(import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/')) + '/dist/${compiled}')`
      return { contents: text.replaceAll('import.meta.url', address), loader: 'ts' }
    }),
}

await rm('dist', { recursive: true, force: true })
await build({
  entryPoints: entryPoints.map((name) => join('src', `${name}.ts`)),
  outdir: 'dist',
  outbase: 'src',
  chunkNames: 'shared/[name]-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  conditions: ['source'],
  plugins: [ownAddresses],
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
})
await buildKit('dist')
await chmod('dist/main.js', 0o755)

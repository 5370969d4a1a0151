import { chmod, cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { buildKit } from './build-kit.ts'

/**
 * Compiles `src` to `dist`, the JavaScript that the package ships, file by file, and copies all else. esbuild takes a tenth
 * of the compiler's time; `npm run check` checks the types.
 */
if (process.argv.includes('--help')) {
  process.stdout.write('npm run build: compiles src to dist.\n')
  process.exit(0)
}

/** Every import stays an import, of the file that its own is compiled to. */
const importsOfCompiled: Plugin = {
  name: 'imports-of-compiled',
  setup: ({ onResolve }) =>
    onResolve({ filter: /.*/ }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/^(\..*)\.ts$/, '$1.js'), external: true },
    ),
}

const isCompiled = (name: string) => /\.ts$/.test(name) && !/\.(test|d)\.ts$/.test(name)
const names = await readdir('src', { recursive: true })

await rm('dist', { recursive: true, force: true })
await cp('src', 'dist', {
  recursive: true,
  filter: (path) => !isCompiled(path) && !path.endsWith('.test.ts'),
})
await build({
  entryPoints: names.filter(isCompiled).map((name) => join('src', name)),
  outdir: 'dist',
  outbase: 'src',
  bundle: true,
  plugins: [importsOfCompiled],
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
})
await buildKit('dist')
await chmod('dist/main.js', 0o755)

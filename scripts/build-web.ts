import { execFileSync } from 'node:child_process'
import { cp, rm } from 'node:fs/promises'
import { build } from 'esbuild'

/** Builds the package `client/web`: JavaScript that bundlers take apart, its types, and its license. */
if (process.argv.includes('--help')) {
  process.stdout.write('npm run build:web: builds the package client/web.\n')
  process.exit(0)
}

const dist = 'client/web/dist'

await rm(dist, { recursive: true, force: true })
await build({
  entryPoints: ['client/web/src/index.ts', 'client/web/src/types.ts'],
  outdir: dist,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
})
const types = [
  '--noEmit',
  'false',
  '--incremental',
  'false',
  '--declaration',
  '--emitDeclarationOnly',
  '--outDir',
  dist,
]
execFileSync('npx', ['--no-install', 'tsc', '-p', 'client/web', ...types], { stdio: 'inherit' })
await cp('LICENSE', 'client/web/LICENSE')

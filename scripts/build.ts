import { execFileSync } from 'node:child_process'
import { chmod, cp, rm } from 'node:fs/promises'

/** Compiles `src` to `dist`, the JavaScript that the package ships, and copies all else. `npm run check` checks the types. */
if (process.argv.includes('--help')) {
  process.stdout.write('npm run build: compiles src to dist.\n')
  process.exit(0)
}

await rm('dist', { recursive: true, force: true })
execFileSync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.build.json', '--noCheck'], { stdio: 'inherit' })
await cp('src', 'dist', {
  recursive: true,
  filter: (path) => !/\.(test\.)?ts$/.test(path) || path.endsWith('.d.ts'),
})
await chmod('dist/main.js', 0o755)

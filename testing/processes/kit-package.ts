import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from '#testing/runner/root'

const entries = ['testing', 'vitest', 'vitest-matchers']

/**
 * Puts the kit below `node_modules` of a folder as the package has it, with the compiled program of this run as its server, and Vitest
 * beside it.
 */
export async function installKit(folder: string, program: string): Promise<void> {
  const at = join(folder, 'node_modules', 'bezant')
  await mkdir(join(at, 'dist', 'kit', 'server'), { recursive: true })
  const { name, version, type, exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  await writeFile(join(at, 'package.json'), JSON.stringify({ name, version, type, exports }))
  await build({
    entryPoints: entries.map((entry) => join(root, 'src', 'kit', `${entry}.ts`)),
    outdir: join(at, 'dist', 'kit'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['vitest'],
    logLevel: 'error',
  })
  const start = `import { createRequire } from 'node:module'\ncreateRequire(import.meta.url)(${JSON.stringify(program)})\n`
  await writeFile(join(at, 'dist', 'kit', 'server', 'main.js'), start)
  await symlink(join(root, 'node_modules', 'vitest'), join(folder, 'node_modules', 'vitest'))
}

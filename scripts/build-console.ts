import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Builds the web console into `console/dist`, unless it was built of the same files by the same tools. */
const folder = fileURLToPath(new URL('../console/', import.meta.url))
const stamp = join(folder, 'dist/built-of')

/** Builds what has changed, and returns whether it did. Processes that build at once write the same files. */
export async function buildConsole(): Promise<boolean> {
  const wanted = hashOfSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return false
  const { build } = await import('vite')
  await build({ configFile: join(folder, 'vite.config.ts'), logLevel: 'error' })
  writeFileSync(stamp, wanted)
  return true
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  hash.update(readFileSync(fileURLToPath(new URL('../package-lock.json', import.meta.url))))
  const names = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
    /^(src|public)\b|^[^/\\]+\.(ts|html)$/.test(name),
  )
  for (const name of names.sort())
    if (/\.\w+$/.test(name)) hash.update(name).update(readFileSync(join(folder, name)))
  return hash.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--help')) {
    process.stdout.write('npm run build:console: builds the web console, unless it is built already.\n')
  } else if (await buildConsole()) process.stdout.write('The console is built.\n')
}

/** `npm run drill -- NAME`: trials that take longer than a test may. */
import type { Drill } from './drill.ts'

/** Drills are loaded on use, so that `--help` answers at once. */
const drills: Record<string, () => Promise<Drill>> = {
  failover: async () => (await import('./failover.ts')).failover,
  restore: async () => (await import('./restore.ts')).restore,
  soak: async () => (await import('./soak/index.ts')).soakDrill,
}

const [name = '--help', ...args] = process.argv.slice(2)
const known = drills[name]
if (!known) {
  const list = await Promise.all(
    Object.entries(drills).map(async ([each, load]) => `  ${each.padEnd(10)} ${(await load()).about}`),
  )
  process.stdout.write(
    `${name.startsWith('-') ? '' : `there is no drill "${name}"\n\n`}npm run drill -- NAME [options]\n\n${list.join('\n')}\n\nEach has its own --help.\n`,
  )
  process.exit(name === '--help' ? 0 : 2)
}
const drill = await known()
if (args.includes('--help')) {
  process.stdout.write(`${drill.usage.trimEnd()}\n`)
  process.exit(0)
}
try {
  await drill.run(args)
  process.exit(0)
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`)
  process.exit(1)
}

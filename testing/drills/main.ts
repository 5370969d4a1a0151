/** `npm run drill -- NAME`: rehearses a fault on real programs. */
import type { Drill } from './drill.ts'

/** Drills are loaded on use, so that `--help` answers at once. */
const drills: Record<string, () => Promise<Drill>> = {
  failover: async () => (await import('./failover.ts')).failover,
}

const [name, ...args] = process.argv.slice(2)
const wanted = name === undefined ? undefined : drills[name]
if (!wanted || !name) {
  const lines = Object.entries(drills).map(
    async ([each, load]) => `  ${each.padEnd(12)} ${(await load()).about}`,
  )
  const list = (await Promise.all(lines)).join('\n')
  process.stdout.write(`npm run drill -- NAME [options]\n\n${list}\n\nnpm run drill -- NAME --help\n`)
  process.exit(name === undefined || name === '--help' ? 0 : 2)
}
const { usage, run } = await wanted()
if (args.includes('--help')) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}
await run(args).catch((error: Error) => {
  process.stderr.write(`${name}: ${error.message}\n`)
  process.exitCode = 1
})
process.exit()

#!/usr/bin/env node
import { type Command, helpOf, parseCommand, UsageError } from '#cli/command'
import { version } from '#runtime/version'

/** Commands are loaded when they are run, so that `--help` answers at once. */
const commands: Record<string, () => Promise<Command>> = {
  sandbox: async () => (await import('#cli/sandbox')).sandboxCommand,
  serve: async () => (await import('#cli/serve')).serveCommand,
  worker: async () => (await import('#cli/serve')).workerCommand,
  migrate: async () => (await import('#cli/migrate')).migrateCommand,
  policy: async () => (await import('#cli/policy')).policyCommand,
  reconcile: async () => (await import('#cli/reconcile')).reconcileCommand,
  adjust: async () => (await import('#cli/adjust')).adjustCommand,
  journal: async () => (await import('#cli/journal')).journalCommand,
  chain: async () => (await import('#cli/chain')).chainCommand,
  keys: async () => (await import('#cli/keys')).keysCommand,
}

async function main([name, ...args]: string[]): Promise<number> {
  if (name === 'help' && args[0] !== undefined) return main([args[0], '--help'])
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(await overview())
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    process.stdout.write(`${version}\n`)
    return 0
  }
  const load = commands[name]
  if (!load) throw new UsageError(`there is no command "${name}"\nSee: bezant --help`)
  const command = await load()
  const given = parseCommand(command, args)
  if (given !== 'help') return command.run(given)
  process.stdout.write(helpOf(command))
  return 0
}

async function overview(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()))
  const lines = all.map((command) => `  ${command.name.padEnd(10)} ${command.summary}`)
  return `Bezant: a stablecoin platform that you run yourself.\n\nUsage: bezant COMMAND [options]\n\n${lines.join('\n')}\n\nbezant help COMMAND, or bezant COMMAND --help, explains one.\n`
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    // A wrong flag or a held data directory needs a sentence, not a stack trace.
    process.stderr.write(`bezant: ${error.message}\n`)
    process.exit(error instanceof UsageError ? 2 : 1)
  },
)

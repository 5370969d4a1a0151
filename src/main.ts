#!/usr/bin/env node
import { type Command, helpOf, parseCommand, UsageError } from '#cli/command'
import { version } from '#runtime/version'

type ListedCommand = { summary: string; load(): Promise<Command> }

/** Every command. The module of a command is loaded when the command runs, so that `--help` answers at once. */
const commands: Record<string, ListedCommand> = {
  sandbox: {
    summary:
      'Starts everything on this machine: PostgreSQL, local chains with a stablecoin, engines and API.',
    load: async () => (await import('#cli/sandbox')).sandboxCommand,
  },
  serve: {
    summary: 'Runs the API on PostgreSQL and your own nodes; any number of these may run at once.',
    load: async () => (await import('#cli/serve')).serveCommand,
  },
  worker: {
    summary: 'Runs the engines: follows the chains, signs and sends transactions, settles payments.',
    load: async () => (await import('#cli/serve')).workerCommand,
  },
  migrate: {
    summary:
      'Brings the database to the tables of this version. Safe to run at any time and from many places at once.',
    load: async () => (await import('#cli/migrate')).migrateCommand,
  },
  policy: {
    summary: 'Says what may be signed, for an entity, a wallet set or a wallet, and freezes them.',
    load: async () => (await import('#cli/policy')).policyCommand,
  },
  reconcile: {
    summary: 'Proves that the books equal the chains, to the last base unit; exits with 1 when it cannot.',
    load: async () => (await import('#cli/reconcile')).reconcileCommand,
  },
  adjust: {
    summary: 'Closes gaps that bezant reconcile shows for good, each by an adjustment with a reason.',
    load: async () => (await import('#cli/adjust')).adjustCommand,
  },
  journal: {
    summary: 'Shows, merges and gives up the journals that workers keep of what they send.',
    load: async () => (await import('#cli/journal')).journalCommand,
  },
  chain: {
    summary: 'Shows how far chains are followed, and ends the halt of one that took back final blocks.',
    load: async () => (await import('#cli/chain')).chainCommand,
  },
  keys: {
    summary: 'Creates entities, and creates and revokes their API keys.',
    load: async () => (await import('#cli/keys')).keysCommand,
  },
}

const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
const overview = `Bezant: a stablecoin platform that you run yourself.\n\nUsage: bezant COMMAND [options]\n\n${lines.join('\n')}\n\nbezant help COMMAND, or bezant COMMAND --help, explains one.\n`

async function main([name, ...args]: string[]): Promise<number> {
  if (name === 'help' && args[0] !== undefined) return main([args[0], '--help'])
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(overview)
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    process.stdout.write(`${version}\n`)
    return 0
  }
  const listed = commands[name]
  if (!listed) throw new UsageError(`there is no command "${name}"\nSee: bezant --help`)
  const command = await listed.load()
  const given = parseCommand(command, args)
  if (given !== 'help') return command.run(given)
  process.stdout.write(helpOf(command, listed.summary))
  return 0
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    // A wrong flag or a held data directory needs a sentence, not a stack trace.
    process.stderr.write(`bezant: ${error.message}\n`)
    process.exit(error instanceof UsageError ? 2 : 1)
  },
)

#!/usr/bin/env node
import { type Command, helpText, parseCommand, UsageError } from '#cli/command'
import { version } from '#runtime/version'

type ListedCommand = { summary: string; load(): Promise<Command> }

/** Every command. The module of a command is loaded when the command runs, so that `--help` answers at once. */
const commands: Record<string, ListedCommand> = {
  sandbox: {
    summary: 'Start a complete platform on this machine: PostgreSQL, local chains with USDC and EURC, API.',
    load: async () => (await import('#cli/sandbox')).sandboxCommand,
  },
  serve: {
    summary: 'Run the API server on your PostgreSQL and your nodes. Several can run at once.',
    load: async () => (await import('#cli/serve')).serveCommand,
  },
  worker: {
    summary:
      'Run a worker: index chains, sign and send transactions, settle payments. Several can run at once.',
    load: async () => (await import('#cli/serve')).workerCommand,
  },
  migrate: {
    summary: 'Create or upgrade the database tables. Safe to repeat, and to run concurrently.',
    load: async () => (await import('#cli/migrate')).migrateCommand,
  },
  policy: {
    summary: 'Show and set signing policies; freeze and unfreeze entities and wallets.',
    load: async () => (await import('#cli/policy')).policyCommand,
  },
  reconcile: {
    summary: 'Compare the books with the chains to the base unit. Exits with 1 if they differ.',
    load: async () => (await import('#cli/reconcile')).reconcileCommand,
  },
  adjust: {
    summary: 'Close the gaps that bezant reconcile finds, by adjustments with a reason.',
    load: async () => (await import('#cli/adjust')).adjustCommand,
  },
  journal: {
    summary: 'List, merge and declare lost the journals of the transactions that workers sent.',
    load: async () => (await import('#cli/journal')).journalCommand,
  },
  chain: {
    summary: 'Show the indexing status of each chain; resume a chain that was halted by a deep reorg.',
    load: async () => (await import('#cli/chain')).chainCommand,
  },
  keys: {
    summary: 'Create entities; create, list and revoke their API keys.',
    load: async () => (await import('#cli/keys')).keysCommand,
  },
}

const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
const overview = `Bezant: a self-hosted stablecoin platform.

Usage: bezant COMMAND [options]

${lines.join('\n')}

Run bezant help COMMAND, or bezant COMMAND --help, for the options of a command.
`

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
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!listed) throw new UsageError(`unknown command "${name}"\nSee: bezant --help`)
  const command = await listed.load()
  const parsed = parseCommand(name, command, args)
  if (parsed !== 'help') return command.run(parsed)
  process.stdout.write(helpText(command, listed.summary))
  return 0
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    // A wrong option or a data directory in use needs a sentence, not a stack trace.
    process.stderr.write(`bezant: ${error.message}\n`)
    process.exit(error instanceof UsageError ? 2 : 1)
  },
)

import { ApiError } from '#lib/errors'
import { version } from '#runtime/version'
import {
  type CommandTable,
  didYouMean,
  helpText,
  type ListedCommand,
  parseCommand,
  UsageError,
} from './command.ts'
import { explainError } from './explain-error.ts'

/** Every command. The module of a command is loaded when the command runs, so that `--help` answers at once. */
const commands: CommandTable = {
  sandbox: {
    summary: 'Start a complete platform on this machine: PostgreSQL, local chains with USDC and EURC, API.',
    load: async () => (await import('./sandbox.ts')).sandboxCommand,
    loadNouns: async () => (await import('./lab/index.ts')).labCommands,
  },
  listen: {
    summary: 'Pass the webhooks of a sandbox on to a program on this machine, or print them.',
    load: async () => (await import('./lab/listen.ts')).listenCommand,
  },
  trigger: {
    summary: 'Make something happen in a sandbox, such as a payment, with the webhooks that report it.',
    load: async () => (await import('./lab/trigger.ts')).triggerCommand,
  },
  serve: {
    summary: 'Run the API server on your PostgreSQL and your nodes. Several can run at once.',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  worker: {
    summary:
      'Run a worker: index chains, sign and send transactions, settle payments. Several can run at once.',
    load: async () => (await import('./serve.ts')).workerCommand,
  },
  attest: {
    summary:
      'Run an attester, which signs the cross-chain messages of another server that it has seen itself.',
    load: async () => (await import('./serve.ts')).attestCommand,
  },
  doctor: {
    summary:
      'Check what a start of the sandbox or of a server needs, and what is unsafe in production; name each fault with its remedy.',
    load: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  },
  conformance: {
    summary: 'Ask a server of this interface as its clients do, and report where its answers differ.',
    load: async () => (await import('./conformance/conformance.ts')).conformanceCommand,
  },
  migrate: {
    summary: 'Create or upgrade the database tables. Safe to repeat, and to run concurrently.',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  policy: {
    summary: 'Show and set signing policies; freeze and unfreeze entities and wallets.',
    load: async () => (await import('./policy.ts')).policyCommand,
  },
  reconcile: {
    summary: 'Compare the books with the chains to the base unit. Exits with 1 if they differ.',
    load: async () => (await import('./reconcile.ts')).reconcileCommand,
  },
  adjust: {
    summary: 'Close the gaps that bezant reconcile finds, by adjustments with a reason.',
    load: async () => (await import('./adjust.ts')).adjustCommand,
  },
  rebalancing: {
    summary: 'Let the coins of an entity be moved between chains for its disbursements; list what was moved.',
    load: async () => (await import('./rebalancing.ts')).rebalancingCommand,
  },
  'lost-burns': {
    summary: 'List attested burns whose block is gone, and book them as lost.',
    load: async () => (await import('./lost-burns.ts')).lostBurnsCommand,
  },
  journal: {
    summary: 'List, merge and declare lost the journals of the transactions that workers sent.',
    load: async () => (await import('./journal.ts')).journalCommand,
  },
  chain: {
    summary: 'Show the indexing status of each chain; resume a chain that was halted by a deep reorg.',
    load: async () => (await import('./chain.ts')).chainCommand,
  },
  contracts: {
    summary:
      'Show and deploy the contracts that smart accounts need on each chain, and those of cross-chain messages.',
    load: async () => (await import('./contracts.ts')).contractsCommand,
  },
  logs: {
    summary: 'Show the requests that a running server answered, and follow new ones.',
    load: async () => (await import('./logs/logs.ts')).logsCommand,
  },
  notifications: {
    summary: 'Show notifications and the attempts to deliver them; send single ones or a range again.',
    load: async () => (await import('./notifications.ts')).notificationsCommand,
  },
  screening: {
    summary:
      'Import lists of sanctions; change, show and roll back the lists that addresses are screened by.',
    load: async () => (await import('./screening.ts')).screeningCommand,
  },
  pages: {
    summary: 'Show and change the sites that may show the page of users in a frame.',
    load: async () => (await import('./pages.ts')).pagesCommand,
  },
  members: {
    summary: 'Add the people who sign in to the console; change their roles, passwords and one-time codes.',
    load: async () => (await import('./members.ts')).membersCommand,
  },
  users: {
    summary: 'Show, log out, disable and enable users; end the lock of a PIN or of security questions.',
    load: async () => (await import('./users.ts')).usersCommand,
  },
  reviews: {
    summary: 'List and decide the transactions that screening leaves to an operator.',
    load: async () => (await import('./reviews.ts')).reviewsCommand,
  },
  payouts: {
    summary: 'Pay many recipients from a CSV file, with a preview and an approval; export what became of it.',
    load: async () => (await import('./payouts/payouts.ts')).payoutsCommand,
  },
  audit: {
    summary: 'Verify that nobody changed the audit trail; export it, or its signed heads, to a file.',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  'root-key': {
    summary:
      'Show the versions of the root key, which encrypts all stored keys; rotate it while the program runs; split it into shares.',
    load: async () => (await import('./root-key.ts')).rootKeyCommand,
  },
  'webhook-keys': {
    summary: 'Show the keys that sign webhooks; replace them by new ones.',
    load: async () => (await import('./webhook-keys.ts')).webhookKeysCommand,
  },
  'attestation-keys': {
    summary:
      'Show, make and retire the keys that sign cross-chain messages, unified balances and quotes of fees.',
    load: async () => (await import('./attestation-keys.ts')).attestationKeysCommand,
  },
  mcp: {
    summary: 'Give agents tools for a running server, by the Model Context Protocol.',
    load: async () => (await import('./mcp/mcp.ts')).mcpCommand,
  },
  'agent-proxy': {
    summary: 'Let users and their agents use the circle command-line tool with a running server.',
    load: async () => (await import('./agent-proxy/agent-proxy.ts')).agentProxyCommand,
  },
  completion: {
    summary: 'Print a script that completes commands, actions and options in bash, zsh or fish.',
    load: async () => (await import('./completion.ts')).completionOf(commands),
  },
  keys: {
    summary: 'Create entities; create, list and revoke their API keys.',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
}

const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(16)} ${summary}`)
const overview = `Bezant: a self-hosted stablecoin platform.

Usage: bezant COMMAND [options]

${lines.join('\n')}

Run bezant help COMMAND, or bezant COMMAND --help, for the options of a command.
`

/** Runs the command that the arguments of the process name. Returns the exit code; an error is one line on standard error. */
export async function runCommandLine(args: string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    // A wrong option or a data directory in use needs a sentence, not a stack trace.
    process.stderr.write(`bezant: ${explainError(error as Error)}\n`)
    return error instanceof UsageError || error instanceof ApiError ? 2 : 1
  }
}

async function run([name, ...args]: string[]): Promise<number> {
  if (name === 'help' && args[0] !== undefined) return run([...args, '--help'])
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(overview)
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    process.stdout.write(`${version}\n`)
    return 0
  }
  const listed = listedIn(commands, name, `unknown command "${name}"`, 'bezant --help')
  const [noun, ...more] = args
  if (!listed.loadNouns || noun === undefined || noun.startsWith('-')) return runListed(name, listed, args)
  const path = `${name} ${noun}`
  const ofNoun = listedIn(
    await listed.loadNouns(),
    noun,
    `bezant ${name} has no "${noun}"`,
    `bezant ${name} --help`,
  )
  return runListed(path, ofNoun, more)
}

function listedIn(table: CommandTable, name: string, problem: string, help: string): ListedCommand {
  if (Object.hasOwn(table, name)) return table[name]!
  throw new UsageError(`${problem}${didYouMean(name, Object.keys(table))}\nSee: ${help}`)
}

async function runListed(path: string, listed: ListedCommand, args: string[]): Promise<number> {
  const command = await listed.load()
  const parsed = parseCommand(path, command, args)
  if (parsed !== 'help') return command.run(parsed)
  process.stdout.write(helpText(command, listed.summary))
  return 0
}

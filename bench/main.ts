import { openTemporaryDirectory } from '#testing/processes/temporary-directory'
import { type Figure, isMet, tableOf } from './figures.ts'
import { describeMachine } from './machine.ts'
import { type Bench, type RunNode, runBench } from './run.ts'

/** Benches are loaded on use, so that `--help` answers at once. */
const benches: Record<string, () => Promise<Bench>> = {
  start: async () => (await import('./start.ts')).startBench,
  snapshots: async () => (await import('./snapshots.ts')).snapshotsBench,
  scale: async () => (await import('./scale/bench.ts')).scaleBench,
  kit: async () => (await import('./kit.ts')).kitBench,
  advance: async () => (await import('./advance.ts')).advanceBench,
  lists: async () => (await import('./lists.ts')).listsBench,
  replicas: async () => (await import('./replicas.ts')).replicasBench,
  'big-tables': async () => (await import('./big-tables/bench.ts')).bigTablesBench,
  console: async () => (await import('./console/bench.ts')).consoleBench,
  prism: async () => (await import('./prism.ts')).prismBench,
  drain: async () => (await import('./drain/bench.ts')).drainBench,
  memory: async () => (await import('./drain/memory.ts')).memoryBench,
  resident: async () => (await import('./resident.ts')).residentBench,
  package: async () => (await import('./package.ts')).packageBench,
  inbound: async () => (await import('./inbound.ts')).inboundBench,
  families: async () => (await import('./families.ts')).familiesBench,
  events: async () => (await import('./events.ts')).eventsBench,
  ponder: async () => (await import('./ponder/bench.ts')).ponderBench,
  fanout: async () => (await import('./fan-out.ts')).fanOutBench,
  blocks: async () => (await import('./blocks.ts')).blocksBench,
  outbound: async () => (await import('./outbound.ts')).outboundBench,
  operations: async () => (await import('./operations/bench.ts')).operationsBench,
  gas: async () => (await import('./operations/gas.ts')).gasBench,
  intake: async () => (await import('./intake.ts')).intakeBench,
  'request-log': async () => (await import('./request-log.ts')).requestLogBench,
  screening: async () => (await import('./screening.ts')).screeningBench,
  audit: async () => (await import('./audit.ts')).auditBench,
  deposits: async () => (await import('./deposits.ts')).depositsBench,
  challenges: async () => (await import('./challenges.ts')).challengesBench,
  payouts: async () => (await import('./payouts.ts')).payoutsBench,
  attestations: async () => (await import('./attestations.ts')).attestationsBench,
  'transfer-intents': async () => (await import('./transfer-intents.ts')).transferIntentsBench,
  x402: async () => (await import('./x402.ts')).x402Bench,
}

/** The benches that `--offline` leaves out, and why. */
const peers: Record<string, string> = {
  prism: 'installs the Prism mock server',
  ponder: 'installs the Ponder indexer',
  operations: 'installs the Alto bundler',
}

const isNode = (text: string): text is RunNode => text === 'anvil' || text === 'stub'

const help = `npm run bench [-- NAME... --quick|--smallest --offline --json --node anvil|stub]

Measures the figures that this project promises and prints them as a table. Without a name all of them: some twenty
minutes. Everything it starts is on loopback and in temporary directories, and is gone at the end.

  start     first start and restart of the sandbox, until it is ready
  scale     intake, pages of lists, and a backlog with its webhooks by 1, 2 and 4 processes on one PostgreSQL
  snapshots a running sandbox with all chains saved under a name, and restored
  kit       a further sandbox of a test run with one chain, beside the first with its server
  advance   business time moved two days on, over 100 due timers and over none
  lists     pages of a list of 1,000,000 rows: the first against a deep one, the handler against its SQL
  replicas  pages of a list from a streaming replica, and what is left for the primary
  big-tables  10,000,000 transactions and as many events: pages by every filter at any depth, plans, sizes of indexes, removal of old
            rows beside live work, and what a transfer leaves; takes 20 minutes and 40 GB
  console   the web console in a browser: its size, its first page, and further pages of a list of 1,000,000 rows
  prism     lists with real rows against the Prism mock server, which is installed for it into a temporary directory
  drain     a backlog of transfers from one wallet and from 100, against what the node takes and a bare script
  memory    what is alive in a worker process after 20,000 and after 100,000 transfers
  resident  memory of the sandbox with all chains, of serve and of worker, some seconds after their start
  package   bytes of the packed package and of its production dependencies, the heaviest of them named
  inbound   from a transfer on a chain to its row in the API
  families  a backlog of transfers, and an inbound one, on Solana beside an EVM chain
  events    from an event on a chain to its webhook
  ponder    the same, and past events, beside the Ponder indexer, which is installed into a temporary directory
  fanout    events at a constant rate to 20 endpoints, of which four are dead or slow
  blocks    blocks of 2,000 transfers of a foreign token, one a second
  outbound  from an accepted transfer to the block that holds it, and from there to COMPLETE in the API, on an idle chain
  operations  user operations of modular wallets until blocks hold them, beside the Alto bundler, which is installed for it
            into a temporary directory
  gas       gas of a sponsored transfer by a smart account, beside a public account and a key
  intake    transfers accepted over HTTP, each with a ciphertext of its own, against decrypting alone
  request-log  transfers accepted over HTTP with the request log, against without it
  screening transfers accepted over HTTP and cleared, with 1,000,000 listed addresses against none
  audit     verifying the audit trail of 1,000,000 entries, against reading it
  deposits  deposits to 1,000 up to 1,000,000 watched addresses: how soon, how many, in how much memory
  challenges approved with a PIN, against argon2id alone; the p99 of reads beside them
  payouts   payouts accepted over HTTP from one wallet, against the same rows inserted by bare SQL
  attestations  cross-chain burns from their blocks to their attestations, against the same signatures and rows alone
  transfer-intents  transfers of unified balances attested over HTTP, against the same signatures verified and the same rows
            inserted by bare SQL
  x402      payments by x402 verified and settled; small ones accepted, and a thousand until they are settled

  --quick   fewer rounds and smaller loads: to see what figures to expect
  --smallest  as little as possible: to see that each bench works, without figures, which would mean nothing
  --offline  leaves out those that install another program: ${Object.keys(peers).join(', ')}
  --node stub  lets drain send its backlogs to a stub of the node, which executes nothing: what the engines can do alone
  --json    one line of JSON on standard output instead of the table
`

const switches = ['--quick', '--smallest', '--offline', '--json', '--help']
const given = process.argv.slice(2)
const place = given.indexOf('--node')
const [, named = 'anvil'] = place < 0 ? [] : given.splice(place, 2)
const node: RunNode = isNode(named) ? named : 'anvil'
const flags = new Set(given.filter((arg) => arg.startsWith('-')))
const names = given.filter((arg) => !arg.startsWith('-'))
const unknown =
  (isNode(named) ? undefined : `--node ${named}`) ??
  [...flags].find((flag) => !switches.includes(flag)) ??
  names.find((name) => !(name in benches))
if (flags.has('--help') || unknown !== undefined) {
  process.stdout.write(unknown === undefined ? help : `there is no "${unknown}"\n\n${help}`)
  process.exit(unknown === undefined ? 0 : 2)
}

/** Number of benches at once that are to show that they work. */
const smallestAtOnce = 3
/** Benches that take longest at that size. They begin first, so that none is left alone at the end. */
const slowest = ['scale', 'console', 'start', 'snapshots', 'families', 'drain']

const size = flags.has('--smallest') ? 'smallest' : flags.has('--quick') ? 'quick' : 'full'

const interruption = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort())

// Figures need commits that wait for the disk.
const clearUp = size === 'smallest' ? await openTemporaryDirectory() : undefined
const machine = await describeMachine()
const { coresBusyBefore } = machine
if (coresBusyBefore > 0.5)
  process.stderr.write(`${coresBusyBefore.toFixed(1)} cores are busy with something else: expect noise\n`)

const figures: Figure[] = []
const failures: { bench: string; error: string }[] = []
const say = (line: string) => process.stderr.write(`${line}\n`)
const chosen = (names.length > 0 ? names : Object.keys(benches)).filter((name) => {
  const isLeftOut = flags.has('--offline') && name in peers
  if (isLeftOut) say(`${name} is left out: it ${peers[name]} from the network`)
  return !isLeftOut
})

async function measure(name: string): Promise<void> {
  const startedMs = performance.now()
  try {
    const bench = await benches[name]!()
    const found = await runBench(bench, { size, node, signal: interruption.signal })
    const strange = found.find(({ measured, ratio = 0 }) => !Number.isFinite(measured.value + ratio))
    if (strange) throw new Error(`"${strange.name}" is no number`)
    figures.push(...found)
    say(`${name} is done after ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`)
  } catch (error) {
    failures.push({ bench: name, error: (error as Error).message })
    say(`${name}: ${(error as Error).stack}`)
  }
}

// Without figures, benches may disturb each other.
const atOnce = size === 'smallest' ? smallestAtOnce : 1
if (size === 'smallest') chosen.sort((a, b) => Number(slowest.includes(b)) - Number(slowest.includes(a)))
const left = chosen.values()
const work = async () => {
  for (const name of left) if (!interruption.signal.aborted) await measure(name)
}
await Promise.all(Array.from({ length: atOnce }, work))

if (flags.has('--json')) {
  const shown = figures.map((figure) => ({ ...figure, met: isMet(figure) }))
  process.stdout.write(`${JSON.stringify({ machine, figures: shown, failures })}\n`)
} else {
  const { cores, memoryGb, platform, node } = machine
  const versions = await import('./versions.ts').then(({ describeVersions }) => describeVersions())
  const table = size === 'smallest' ? '' : `\n${tableOf(figures, cores)}\n`
  process.stdout.write(
    `\n${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}, ${versions}; ${coresBusyBefore.toFixed(1)} cores busy before the run\n${table}`,
  )
  for (const { bench, error } of failures)
    process.stdout.write(`\n${bench} could not be measured: ${error}\n`)
}
await clearUp?.()
process.exit(failures.length > 0 || interruption.signal.aborted ? 1 : 0)

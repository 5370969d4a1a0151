import { blockchains } from '../../src/chains/blockchains.ts'
import { importsOf, type Repository, type Rule } from './repository.ts'

/** Tiers from the top down: a file may import from tiers below its own, and from its own folder. */
const tiers = [
  ['main'],
  ['cli', 'kit'],
  ['sandbox'],
  ['context'],
  ['api'],
  ['engines'],
  ['identity'],
  ['custody', 'chains'],
  ['runtime'],
  ['lib'],
]

/** Engines in order: each may import those before it. */
const engineOrder = [
  ['webhooks', 'ledger', 'compliance', 'audit'],
  ['indexer'],
  ['transactions'],
  ['tokens'],
  ['treasury'],
  ['attestation', 'modular'],
  ['unified-balance', 'facilitator'],
  ['movements'],
]

/** The folders of an engine in order: each may import those before it. The engine's own files are shared by all of them. */
const folderOrder: Record<string, string[]> = {
  treasury: [
    'address-book',
    'deposit-addresses',
    'payment-intents',
    'deposits',
    'sweeping',
    'rebalancing',
    'bundling',
    'disbursements',
    'payout-batches',
    'banking',
    'reconciliation',
  ],
}

/** Files of an engine that join its folders. */
const joining =
  /^src\/engines\/treasury\/(index|decide-review|follow|journaled-resources|merchant-balances|platform-calls|reviewed-values|treasury-states)\.ts$/

/** Networks are data, address formats and messages between chains need no chain, the interface is types: chain families share them. */
const familyFree = /^src\/chains\/([a-z-]+\.ts|(networks|addresses|crosschain|facets)\/)/

const tierOf = (path: string) => {
  const top = path.split('/')[1]!.replace(/\.ts$/, '')
  return { top, rank: tiers.findIndex((tier) => tier.includes(top)) }
}

/** The process that a test run starts; all else of the kit is loaded by test files. */
const kitServer = /^src\/kit\/server\//

/** Rooms with secrets: files outside enter them through an index.ts. */
const behindDoors = new Set(['custody', 'identity'])

function doorReason(top: string, to: string): string | undefined {
  if (!to.endsWith('/index.ts')) return 'enter custody and identity through an index.ts'
  if (to === 'src/custody/sealing/index.ts' && top !== 'identity') return 'only custody and identity seal'
  return undefined
}

export const importRule: Rule = {
  name: 'imports point down',
  why: 'The tree is the architecture: see ARCHITECTURE.md.',
  check: (repository) =>
    production(repository).flatMap((file) =>
      importsOf(file).flatMap(({ target, line }) => {
        if (!target.startsWith('src/')) return []
        const reason = forbidden(file.path, target)
        return reason ? [`${file.path}:${line} imports ${target}: ${reason}`] : []
      }),
    ),
}

function forbidden(from: string, to: string): string | undefined {
  const upper = tierOf(from)
  const lower = tierOf(to)
  if (lower.rank < 0) return 'it belongs to no tier'
  if (lower.rank < upper.rank) return 'that is a tier above'
  if (upper.top === 'kit' && !kitServer.test(from) && (lower.top !== 'kit' || kitServer.test(to)))
    return 'what tests load imports nothing of the server'
  if (lower.rank === upper.rank && lower.top !== upper.top) return 'that is beside it, in the same tier'
  if (upper.top !== lower.top && behindDoors.has(lower.top)) return doorReason(upper.top, to)
  if (upper.top === 'engines' && lower.top === 'chains' && !familyFree.test(to))
    return 'an engine reaches a chain through its interface'
  if (upper.top === 'api' && lower.top === 'api') return resourceReason(from, to)
  if (upper.top === 'engines' && lower.top === 'engines') return engineReason(from, to)
  if (upper.top === 'chains' && lower.top === 'chains') return familyReason(from, to)
  return undefined
}

/** Folders of the API that are no resources: what several of them need. */
const sharedByResources = new Set(['fees', 'sources', 'calls', 'business', 'interface'])

function resourceReason(from: string, to: string): string | undefined {
  const [, , mine = ''] = from.split('/')
  const [, , theirs = ''] = to.split('/')
  if (mine === theirs || mine === 'index.ts' || theirs.endsWith('.ts') || sharedByResources.has(theirs))
    return undefined
  // Challenges ask users for what the other resources do: see decision 70.
  if (mine === 'challenges') return undefined
  return 'a resource does not import another resource'
}

function engineReason(from: string, to: string): string | undefined {
  const rank = (path: string) => engineOrder.findIndex((tier) => tier.includes(path.split('/')[2]!))
  const [mine, theirs] = [rank(from), rank(to)]
  if (from.split('/')[2] === to.split('/')[2]) return folderReason(from, to)
  if (theirs < 0) return undefined
  if (theirs < mine) return to.endsWith('/index.ts') ? undefined : 'enter an engine through its index.ts'
  return 'engines import only those before them'
}

function folderReason(from: string, to: string): string | undefined {
  const order = folderOrder[from.split('/')[2]!]
  if (!order || joining.test(from)) return undefined
  const rank = (path: string) => (joining.test(path) ? order.length : order.indexOf(path.split('/')[3]!))
  return rank(to) <= rank(from) ? undefined : 'folders of an engine import only those before them'
}

/** The endpoints of a chain, whatever they are asked. */
const nodesOfFamilies = /^src\/chains\/nodes\//

function familyReason(from: string, to: string): string | undefined {
  if (familyFree.test(from) || familyFree.test(to) || nodesOfFamilies.test(to)) return undefined
  return from.split('/')[2] === to.split('/')[2] ? undefined : 'a chain family does not import another'
}

export const cycleRule: Rule = {
  name: 'no import cycles',
  why: 'A cycle, of types alone too, means that neither file can be understood first.',
  check: (repository) => {
    const files = [
      ...production(repository),
      ...repository.files.filter(({ path }) => path.startsWith('testing/')),
    ]
    const graph = new Map(files.map((file) => [file.path, importsOf(file).map((item) => item.target)]))
    const done = new Set<string>()
    const found: string[] = []
    const visit = (path: string, trail: string[]) => {
      if (trail.includes(path))
        return void found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
      if (done.has(path)) return
      for (const next of graph.get(path) ?? []) if (graph.has(next)) visit(next, [...trail, path])
      done.add(path)
    }
    for (const path of graph.keys()) visit(path, [])
    return found
  },
}

const only = (packages: RegExp, folder: RegExp, reason: string) => ({ packages, folder, reason })

const fenced = [
  only(/^viem(\/|$)/, /^src\/chains\/evm\//, 'only chains/evm imports the EVM library'),
  only(
    /^(hash-wasm|secp256k1|tiny-secp256k1|@noble\/curves|@scure\/bip|shamir-secret-sharing|koffi|@aws-sdk\/|google-auth-library)/,
    // Public keys are recovered from signatures outside: that touches no private key.
    /^src\/custody\/|^src\/chains\/evm\/signing\/recover-signer\.ts$/,
    'only custody imports signing libraries',
  ),
  only(/^pg$/, /^src\/runtime\/db\//, 'only runtime/db talks to the driver'),
  only(
    /^(fastify|@fastify\/)/,
    /^src\/runtime\/http\/|^src\/context/,
    'no HTTP below and beside runtime/http',
  ),
]

export const fenceRule: Rule = {
  name: 'libraries stay behind their wall',
  why: 'What can be replaced or attacked is touched in one place.',
  check: (repository) =>
    production(repository).flatMap((file) => {
      const bad = importsOf(file).flatMap(({ target, line }) =>
        fenced
          .filter((fence) => fence.packages.test(target) && !fence.folder.test(file.path))
          .map((fence) => `${file.path}:${line} imports ${target}: ${fence.reason}`),
      )
      return [...bad, ...words(file.path, file.lines)]
    }),
}

/** The name of a blockchain as a literal. */
const blockchainName = new RegExp(`'(${blockchains.join('|')})'`)

const fencedWords = [
  {
    word: /\bprocess\.env\b/,
    allowed: /^src\/(runtime\/config|kit\/environment)\.ts$/,
    reason: 'only runtime/config.ts reads the environment',
  },
  {
    word: /\bDate\.now\(\)|\bnew Date\(\)/,
    allowed: /^src\/(lib\/time\.ts$|sandbox\/)/,
    reason: 'business time comes from ctx.clock',
  },
  {
    word: /\barmFailpoint\b/,
    allowed: /^src\/(runtime\/scheduling\/failpoints|context)\.ts$/,
    reason: 'failpoints are armed once, at boot',
  },
  {
    word: /(address|account|token|hash)\w*(\)|\.trim\(\))*\.toLowerCase\(\)/i,
    allowed: /^src\/chains\//,
    reason: 'the canonical form of an address or a transaction id comes from chains/addresses/canonical.ts',
  },
  {
    word: /\bfamily\w*(\([^()]*\))? [!=]== '/i,
    allowed: /^src\/chains\//,
    reason: 'what a blockchain can do comes from chains/capabilities.ts',
  },
  {
    word: blockchainName,
    // Chain codes of the business account, common names in messages, currencies, and examples of schemas are facts of their own.
    allowed:
      /^src\/(chains\/(networks\/|business-chains\.ts)|sandbox\/|kit\/|lib\/suggest\.ts|api\/(business\/money\.ts|.*schema\.ts))/,
    reason: 'what one blockchain is like stands in its file in chains/networks',
  },
  {
    // Node 20 collects a timeout whose signal only another one refers to, and it never fires.
    word: /\bAbortSignal\.any\(/,
    allowed: /^src\/runtime\/outbound\/call\.ts$/,
    reason: 'a timeout that is joined with another signal is kept by runtime/outbound/call.ts',
  },
  { word: /\bMath\.random\(/, allowed: /^$/, reason: 'use node:crypto' },
]

const words = (path: string, lines: string[]) =>
  fencedWords
    .filter(({ allowed }) => !allowed.test(path))
    .flatMap(({ word, reason }) =>
      lines.flatMap((line, index) => (word.test(line) ? [`${path}:${index + 1} ${reason}`] : [])),
    )

const production = (repository: Repository) =>
  repository.matching(/^src\/.*\.ts$/).filter(({ path }) => !/\.test\.ts$/.test(path))

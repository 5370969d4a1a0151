import type { Hex } from '#lib/hex'
import { readLongAddress, shortAddress } from './addresses.ts'
import { assetAt } from './assets.ts'
import type { LedgerBlock, LedgerTransaction } from './blocks.ts'
import { NodeError } from './errors.ts'
import { type Ledger, latestBlock } from './ledger.ts'
import {
  accountResource,
  assetResources,
  type RestJson,
  showBlock,
  showCommitted,
  storeResources,
} from './show.ts'
import { readState, type StateReader } from './state.ts'

/** The ledger as one endpoint shows it: up to a block, and without what it hides. */
export type LedgerView = {
  ledger: Ledger
  head: LedgerBlock
  chainId: number
  /** The time that the node takes for the ledger's. */
  timestampUs: bigint
  isHidden(hash: string): boolean
}

const pageMax = 100
const pageUsual = 25

export const showLedger = ({ ledger, head, chainId, timestampUs }: LedgerView): RestJson => ({
  chain_id: chainId,
  epoch: '1',
  ledger_version: String(head.lastVersion),
  oldest_ledger_version: String(ledger.oldestVersion),
  ledger_timestamp: String(timestampUs),
  node_role: 'full_node',
  oldest_block_height: String(ledger.oldestHeight),
  block_height: String(head.height),
  git_hash: 'simulated by Bezant',
})

export function viewOf(
  ledger: Ledger,
  { lagBlocks = 0, chainId = ledger.chainId, clockOffMs = 0, hidden = [] as readonly string[] } = {},
): LedgerView {
  const height = Math.max(0, latestBlock(ledger).height - lagBlocks)
  const head = ledger.blocks[height]!
  return {
    ledger,
    head,
    chainId,
    timestampUs: head.timestampUs + BigInt(clockOffMs) * 1000n,
    isHidden: (hash) => hidden.includes(hash),
  }
}

export function requireAccountAddress(text: string): Hex {
  const address = readLongAddress(text)
  if (address) return address
  throw new NodeError('invalid_input', `${text} is no address: send 0x and up to 64 hexadecimal digits`)
}

export function requireNumber(name: string, text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new NodeError('invalid_input', `${name} must be a whole number, not ${text}`)
}

/** The state at the version that a request names, the newest without one. */
export function stateAt(
  view: LedgerView,
  query: URLSearchParams,
): { state: StateReader; timestampUs: bigint } {
  const text = query.get('ledger_version')
  const version = text === null ? view.head.lastVersion : requireNumber('ledger_version', text)
  requireVersion(view, version)
  const { timestampUs } = view.ledger.transactions[version]!
  return { state: readState(view.ledger.state, version), timestampUs }
}

function requireVersion({ ledger, head }: LedgerView, version: number): void {
  if (version > head.lastVersion)
    throw new NodeError(
      'version_not_found',
      `Ledger version(${version}) is not found: the newest is ${head.lastVersion}`,
    )
  if (version < ledger.oldestVersion)
    throw new NodeError(
      'version_pruned',
      `Ledger version(${version}) has been pruned: the oldest is ${ledger.oldestVersion}`,
    )
}

export function blockAt(view: LedgerView, height: number, withTransactions: boolean): RestJson {
  const { ledger, head } = view
  if (height > head.height) throw new NodeError('block_not_found', `Block not found by height(${height})`)
  if (height < ledger.oldestHeight) throw new NodeError('block_pruned', `Block(${height}) has been pruned`)
  const block = ledger.blocks[height]!
  if (!withTransactions) return { ...showBlock(block), transactions: null }
  const end = Math.min(block.lastVersion + 1, block.firstVersion + pageMax)
  return { ...showBlock(block), transactions: showRange(view, block.firstVersion, end) }
}

export function blockOfVersion(view: LedgerView, version: number, withTransactions: boolean): RestJson {
  requireVersion(view, version)
  return blockAt(view, view.ledger.transactions[version]!.height, withTransactions)
}

export function transactionAt(view: LedgerView, version: number): RestJson {
  requireVersion(view, version)
  const entry = view.ledger.transactions[version]!
  if (view.isHidden(entry.hash))
    throw new NodeError('transaction_not_found', `Transaction not found by Ledger version(${version})`)
  return show(view, entry)
}

/** The committed transaction of a hash as the endpoint knows it. */
export function committedOf(
  { ledger, head, isHidden }: LedgerView,
  hash: string,
): LedgerTransaction | undefined {
  const entry = ledger.byHash.get(hash)
  if (!entry || entry.version > head.lastVersion || entry.version < ledger.oldestVersion) return undefined
  return isHidden(hash) ? undefined : entry
}

export function transactionsFrom(view: LedgerView, query: URLSearchParams): RestJson[] {
  const { limit, start } = pageOf(query)
  const end = view.head.lastVersion + 1
  const from = start ?? Math.max(view.ledger.oldestVersion, end - limit)
  if (start !== undefined) requireVersion(view, start)
  return showRange(view, from, Math.min(end, from + limit))
}

/** The transactions that an account sent, by sequence; the newest without a start. */
export function sentBy(view: LedgerView, address: Hex, query: URLSearchParams): RestJson[] {
  const { limit, start } = pageOf(query)
  const sent = (view.ledger.bySender.get(address) ?? []).filter(({ hash }) => committedOf(view, hash))
  const from = sent.findIndex(({ transaction }) => transaction.sequence >= BigInt(start ?? 0))
  if (from === -1) return []
  const page = start === undefined ? sent.slice(-limit) : sent.slice(from, from + limit)
  return page.map((entry) => show(view, entry))
}

function pageOf(query: URLSearchParams): { limit: number; start: number | undefined } {
  const limit = requireNumber('limit', query.get('limit') ?? String(pageUsual))
  if (limit === 0) throw new NodeError('invalid_input', 'limit must be at least 1')
  const start = query.get('start')
  return {
    limit: Math.min(limit, pageMax),
    start: start === null ? undefined : requireNumber('start', start),
  }
}

const showRange = (view: LedgerView, from: number, end: number): RestJson[] =>
  view.ledger.transactions
    .slice(from, end)
    .filter(({ hash }) => !view.isHidden(hash))
    .map((entry) => show(view, entry))

export const show = ({ ledger }: LedgerView, entry: LedgerTransaction): RestJson =>
  showCommitted(entry, ledger.blocks[entry.height]!.hash)

/** The resources of an address: of an account, a store or an asset. */
export function resourcesAt(state: StateReader, address: Hex): RestJson[] {
  const account = state.get('accounts', address)
  const store = state.get('stores', address)
  const supply = assetAt(address) ? (state.get('supplies', address) ?? 0n) : 0n
  return [
    ...(account ? [accountResource(address, account)] : []),
    ...(store ? storeResources(store) : []),
    ...assetResources(address, supply),
  ]
}

export function resourceAt(state: StateReader, address: Hex, type: string): RestJson {
  const found = resourcesAt(state, address).find((resource) => resource.type === type)
  if (found) return found
  throw new NodeError(
    'resource_not_found',
    `Resource not found by Address(${shortAddress(address)}), Struct tag(${type})`,
  )
}

export function accountAt(state: StateReader, address: Hex): RestJson {
  const account = state.get('accounts', address)
  if (!account)
    throw new NodeError('account_not_found', `Account not found by Address(${shortAddress(address)})`)
  return { sequence_number: String(account.sequence), authentication_key: address }
}

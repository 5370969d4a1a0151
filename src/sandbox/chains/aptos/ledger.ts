/**
 * Ledger of a simulated Aptos network: blocks, versions and the pool. Its journal has all that came in, and is executed
 * again at the next start, which gives the same blocks.
 */
import type { Hex } from '#lib/hex'
import type { LedgerJournal, LedgerSettings } from '../ledger-journal.ts'
import { apt, assets } from './assets.ts'
import { checkSignatures, isSigned, transactionHash } from './authenticate.ts'
import {
  blockHashOf,
  type LedgerBlock,
  type LedgerTransaction,
  ownHashOf,
  type UserTransaction,
} from './blocks.ts'
import { decodeSignedTransaction } from './codec.ts'
import { NodeError, refused } from './errors.ts'
import { affordableGas, type ExecutionOutcome, execute, findRefusal, sequenceOf } from './execute.ts'
import { noWork } from './gas.ts'
import { issuerAddress, issuerFundsOctas } from './issuer.ts'
import type { LedgerEntry } from './journal.ts'
import { mintAsset } from './movements.ts'
import { createPool, isForgotten, type Pending, type TransactionPool } from './pool.ts'
import {
  createLedgerState,
  type LedgerState,
  mergeChanges,
  openChanges,
  pruneState,
  readState,
  type StateWrite,
  writeChanges,
} from './state.ts'

export type Ledger = LedgerSettings & {
  chainId: number
  state: LedgerState
  blocks: LedgerBlock[]
  /** By version. */
  transactions: LedgerTransaction[]
  byHash: Map<string, LedgerTransaction>
  /** The user transactions of each sender, oldest first. */
  bySender: Map<string, UserTransaction[]>
  pool: TransactionPool
  oldestVersion: number
  oldestHeight: number
  journal: LedgerJournal<LedgerEntry>
  /** Milliseconds since 1970, by which blocks get their time. */
  clock(): number
  /** Functions that are called after a block and after a transaction has joined the pool. */
  listeners: Set<(change: 'block' | 'pool') => void>
}

const blockTransactionsMax = 500

export function openLedger(
  chainId: number,
  journal: LedgerJournal<LedgerEntry>,
  clock: () => number,
): Ledger {
  const ledger: Ledger = {
    chainId,
    state: createLedgerState(),
    blocks: [],
    transactions: [],
    byHash: new Map(),
    bySender: new Map(),
    pool: createPool(),
    oldestVersion: 0,
    oldestHeight: 0,
    journal,
    blockMode: undefined,
    time: { aheadMs: 0 },
    clock: () => ('heldMs' in ledger.time ? ledger.time.heldMs : clock() + ledger.time.aheadMs),
    listeners: new Set(),
  }
  writeGenesis(ledger)
  replay(ledger)
  return ledger
}

export const latestBlock = ({ blocks }: Ledger): LedgerBlock => blocks.at(-1)!

export const ledgerSeconds = (ledger: Ledger): bigint => latestBlock(ledger).timestampUs / 1_000_000n

/** Accepts a transaction into the pool, in the journal before it is answered. An endpoint that loses it answers as if it had it. */
export function submitToPool(
  ledger: Ledger,
  bytes: Buffer,
  { nowS = ledgerSeconds(ledger), isLost = false } = {},
): Pending {
  const transaction = decodeSignedTransaction(bytes)
  const hash = transactionHash(bytes)
  const known = ledger.pool.find(hash)
  if (known) return known
  checkSignatures(transaction)
  const rules = { nowS, chainId: ledger.chainId }
  const refusal = findRefusal(transaction, readState(ledger.state), rules)
  // A transaction ahead of its place waits in the pool.
  if (refusal && refusal !== 'SEQUENCE_NUMBER_TOO_NEW') throw refused(refusal)
  const pending = { transaction, hash, arrivedMs: ledger.clock() }
  if (isLost) return pending
  dropForgotten(ledger)
  ledger.pool.add(pending, () =>
    ledger.journal.append({ kind: 'submit', atMs: pending.arrivedMs, bcs: bytes.toString('hex') }),
  )
  announce(ledger, 'pool')
  return pending
}

/** Executes a transaction on the newest version and keeps nothing of it. */
export function simulate(
  ledger: Ledger,
  bytes: Buffer,
  { price, fillsMaxGas }: { price: bigint | undefined; fillsMaxGas: boolean },
) {
  const decoded = decodeSignedTransaction(bytes)
  if (isSigned(decoded))
    throw new NodeError('invalid_input', 'Simulated transactions must not have a valid signature')
  const changes = openChanges(readState(ledger.state))
  const priced = price === undefined ? decoded : { ...decoded, gasPrice: price }
  const transaction = fillsMaxGas ? { ...priced, maxGas: affordableGas(priced, changes) } : priced
  const rules = { nowS: ledgerSeconds(ledger), chainId: ledger.chainId }
  const refusal = findRefusal(transaction, changes, rules)
  const outcome: ExecutionOutcome = refusal
    ? { isSuccess: false, vmStatus: refusal, gasUnits: 0n, events: [] }
    : execute(transaction, changes)
  return { transaction, outcome, writes: changes.all(), hash: transactionHash(bytes) }
}

/** Makes a block of what is ready, or an empty one, whose time is the clock's unless a block had that already. */
export function mine(ledger: Ledger, { isEmpty = false } = {}): LedgerBlock {
  dropForgotten(ledger)
  const clockUs = BigInt(Math.floor(ledger.clock())) * 1000n
  const afterUs = latestBlock(ledger).timestampUs + 1n
  const timestampUs = clockUs > afterUs ? clockUs : afterUs
  return makeBlock(ledger, timestampUs, isEmpty ? { only: [] } : {})
}

/** Forgets a transaction of the pool, or all of them, as the restart of a node does. */
export const forgetPending = (ledger: Ledger, hash?: string): void =>
  drop(
    ledger,
    ledger.pool.all().filter((pending) => hash === undefined || pending.hash === hash),
  )

/** Forgets the history before a version. */
export function pruneLedger(ledger: Ledger, version: number): void {
  const latest = latestBlock(ledger).firstVersion
  if (!Number.isSafeInteger(version) || version < ledger.oldestVersion || version > latest)
    throw new Error(`the version to prune to must lie between ${ledger.oldestVersion} and ${latest}`)
  ledger.journal.append({ kind: 'prune', version })
  applyPrune(ledger, version)
}

function applyPrune(ledger: Ledger, version: number): void {
  ledger.oldestVersion = version
  ledger.oldestHeight = ledger.blocks.findIndex(({ firstVersion }) => firstVersion >= version)
  pruneState(ledger.state, version)
}

function dropForgotten(ledger: Ledger): void {
  const nowMs = ledger.clock()
  drop(
    ledger,
    ledger.pool.all().filter((pending) => isForgotten(pending, nowMs)),
  )
}

function drop(ledger: Ledger, pending: readonly Pending[]): void {
  if (pending.length === 0) return
  for (const { hash } of pending) ledger.pool.remove(hash)
  ledger.journal.append({ kind: 'drop', hashes: pending.map(({ hash }) => hash) })
}

function announce(ledger: Ledger, change: 'block' | 'pool'): void {
  for (const listener of ledger.listeners) listener(change)
}

/** Makes a block of some transactions, or of those of the pool that are ready, and records it before it is seen. */
function makeBlock(
  ledger: Ledger,
  timestampUs: bigint,
  { only, isReplay = false }: { only?: readonly Pending[]; isReplay?: boolean },
): LedgerBlock {
  const height = ledger.blocks.length
  const firstVersion = ledger.transactions.length
  const changes = openChanges(readState(ledger.state))
  const rules = { nowS: timestampUs / 1_000_000n, chainId: ledger.chainId }
  const executed: { pending: Pending; outcome: ExecutionOutcome; writes: StateWrite[] }[] = []
  const refusedNow: Pending[] = []
  const run = (pending: Pending) => {
    const own = openChanges(changes)
    if (findRefusal(pending.transaction, own, rules)) return void refusedNow.push(pending)
    const outcome = execute(pending.transaction, own)
    const writes = own.all()
    mergeChanges(changes, writes)
    executed.push({ pending, outcome, writes })
  }
  if (only) only.forEach(run)
  else {
    const tried = new Set<string>()
    while (executed.length < blockTransactionsMax) {
      const next = ledger.pool.ready(changes).filter(({ hash }) => !tried.has(hash))
      if (next.length === 0) break
      for (const pending of next.slice(0, blockTransactionsMax - executed.length)) {
        tried.add(pending.hash)
        run(pending)
      }
    }
  }
  const hashes = executed.map(({ pending }) => pending.hash as Hex)
  const hash = blockHashOf(latestBlock(ledger).hash, height, timestampUs, hashes)
  if (!isReplay) ledger.journal.append({ kind: 'block', timestampUs: String(timestampUs), hashes, hash })
  const block = { height, hash, timestampUs, firstVersion, lastVersion: firstVersion + executed.length + 1 }
  const base = { height, timestampUs }
  addTransaction(ledger, {
    ...base,
    kind: 'metadata',
    version: firstVersion,
    hash: ownHashOf('metadata', hash),
  })
  executed.forEach(({ pending, outcome, writes }, index) => {
    const version = firstVersion + 1 + index
    const { transaction } = pending
    writeChanges(ledger.state, writes, version)
    ledger.pool.remove(pending.hash)
    addTransaction(ledger, {
      ...base,
      kind: 'user',
      version,
      hash: pending.hash as Hex,
      transaction,
      outcome,
      writes,
    })
  })
  addTransaction(ledger, {
    ...base,
    kind: 'epilogue',
    version: block.lastVersion,
    hash: ownHashOf('epilogue', hash),
  })
  ledger.blocks.push(block)
  drop(ledger, refusedNow)
  dropOvertaken(ledger, rules.nowS)
  announce(ledger, 'block')
  return block
}

/** Removes from the pool what can never be executed: expired transactions, and those of sequences that others used. */
function dropOvertaken(ledger: Ledger, nowS: bigint): void {
  const state = readState(ledger.state)
  for (const { hash, transaction } of ledger.pool.all())
    if (nowS >= transaction.expiryS || transaction.sequence < sequenceOf(state, transaction.sender))
      ledger.pool.remove(hash)
}

function addTransaction(ledger: Ledger, entry: LedgerTransaction): void {
  ledger.transactions.push(entry)
  ledger.byHash.set(entry.hash, entry)
  if (entry.kind !== 'user') return
  const { sender } = entry.transaction
  const sent = ledger.bySender.get(sender)
  if (sent) sent.push(entry)
  else ledger.bySender.set(sender, [entry])
}

/** Writes block 0: the assets, and the issuer with its coins. */
function writeGenesis(ledger: Ledger): void {
  const changes = openChanges(readState(ledger.state))
  for (const { metadata } of assets) changes.set('supplies', metadata, 0n)
  changes.set('accounts', issuerAddress, { sequence: 0n })
  mintAsset(
    { changes, events: [], work: noWork(), sender: issuerAddress },
    apt,
    issuerAddress,
    issuerFundsOctas,
  )
  writeChanges(ledger.state, changes.all(), 0)
  const none: Hex = `0x${'0'.repeat(64)}`
  const hash = blockHashOf(none, ledger.chainId, 0n, [])
  const base = { height: 0, timestampUs: 0n }
  addTransaction(ledger, { ...base, kind: 'genesis', version: 0, hash: ownHashOf('genesis', hash) })
  ledger.blocks.push({ height: 0, hash, timestampUs: 0n, firstVersion: 0, lastVersion: 0 })
}

/** Executes the journal again. */
function replay(ledger: Ledger): void {
  for (const entry of ledger.journal.takeEntries()) {
    if (entry.kind === 'submit') {
      const bytes = Buffer.from(entry.bcs, 'hex')
      const transaction = decodeSignedTransaction(bytes)
      ledger.pool.add({ transaction, hash: transactionHash(bytes), arrivedMs: entry.atMs })
    } else if (entry.kind === 'drop') for (const hash of entry.hashes) ledger.pool.remove(hash)
    else if (entry.kind === 'prune') applyPrune(ledger, entry.version)
    else if (entry.kind === 'blocks') ledger.blockMode = entry.mode
    else if (entry.kind === 'time') ledger.time = entry.time
    else if (entry.kind === 'block') {
      const only = entry.hashes.flatMap((hash) => ledger.pool.find(hash) ?? [])
      const { hash, height } = makeBlock(ledger, BigInt(entry.timestampUs), { only, isReplay: true })
      if (hash !== entry.hash)
        throw new Error(`The journal of the simulated Aptos ledger gives another block ${height} than before`)
    }
  }
}

/**
 * Ledger of a local Solana network: slots, blocks, forks, and the transactions that wait for a block. Its journal has all that came
 * in, and is executed again at the next start, which gives the same blocks.
 */
import { createHash } from 'node:crypto'
import type { LedgerJournal, LedgerSettings } from '../ledger-journal.ts'
import { type BankedTransaction, blockhashAgeMax, type SlotBlock, slotHashOf } from './blocks.ts'
import { nonceAccountOf, usesNonce } from './durable-nonce.ts'
import { executeInBank } from './execute.ts'
import { genesisHashOf, writeGenesis } from './genesis.ts'
import type { SolanaEntry } from './journal.ts'
import { type ReceivedTransaction, receive } from './received.ts'
import { openVm, type Vm, type VmAccount } from './vm.ts'

/** A transaction that waits for a block. One that the machine refused waits on where it is retried. */
type PooledTransaction = { transaction: ReceivedTransaction; isRetried: boolean; wasTried: boolean }

export type SolanaLedger = LedgerSettings & {
  chainId: number
  genesisHash: string
  vm: Vm
  /** The chain, by height. */
  blocks: SlotBlock[]
  bySlot: Map<number, SlotBlock>
  byHash: Map<string, SlotBlock>
  bySignature: Map<string, BankedTransaction>
  pending: Map<string, PooledTransaction>
  /** The slot of the next block unless it is skipped. */
  nextSlot: number
  /** Of a hundred slots, the number that has no block. */
  skipPercent: number
  /** Number of blocks after which one is final. */
  finalizedAfter: number
  journal: LedgerJournal<SolanaEntry>
  /** Milliseconds since 1970, by which blocks get their time. */
  clock(): number
  /** Functions that are called after a block, a fork, and after a transaction has joined those that wait. */
  listeners: Set<(change: LedgerChange) => void>
}

export type LedgerChange = 'block' | 'fork' | 'pending'

const blockTransactionsMax = 500
/** The number of blocks whose earlier accounts are kept, for reads of a past one and for forks. */
const changesKept = 200

type LedgerOptions = {
  chainId: number
  journal: LedgerJournal<SolanaEntry>
  clock: () => number
  finalizedAfter: number
}

export function openSolanaLedger({ chainId, journal, clock, finalizedAfter }: LedgerOptions): SolanaLedger {
  const genesisHash = genesisHashOf(chainId)
  const genesis: SlotBlock = {
    slot: 0,
    parentSlot: 0,
    height: 0,
    hash: genesisHash,
    parentHash: '1'.repeat(32),
    timeS: 0,
    transactions: [],
    changed: new Map(),
  }
  const ledger: SolanaLedger = {
    chainId,
    genesisHash,
    vm: openVm(),
    blocks: [],
    bySlot: new Map(),
    byHash: new Map(),
    bySignature: new Map(),
    pending: new Map(),
    nextSlot: 1,
    skipPercent: 0,
    finalizedAfter,
    journal,
    blockMode: undefined,
    time: { aheadMs: 0 },
    clock: () => ('heldMs' in ledger.time ? ledger.time.heldMs : clock() + ledger.time.aheadMs),
    listeners: new Set(),
  }
  writeGenesis(ledger.vm)
  addBlock(ledger, genesis)
  replay(ledger)
  return ledger
}

export const headBlock = ({ blocks }: SolanaLedger): SlotBlock => blocks.at(-1)!

/** The newest block that no fork takes back. */
export const finalizedBlock = ({ blocks, finalizedAfter }: SolanaLedger): SlotBlock =>
  blocks[Math.max(0, blocks.length - 1 - finalizedAfter)]!

/** Whether transactions may name a blockhash in the block after this one. */
export function isRecent({ byHash }: SolanaLedger, blockhash: string, head: SlotBlock): boolean {
  const named = byHash.get(blockhash)
  return named !== undefined && named.height <= head.height && head.height - named.height <= blockhashAgeMax
}

/** The account as it was after a block. */
export function accountAfter(ledger: SolanaLedger, address: string, block: SlotBlock): VmAccount | undefined {
  for (const { changed } of ledger.blocks.slice(block.height + 1))
    if (changed.has(address)) return changed.get(address)
  return ledger.vm.account(address)
}

/** Accepts a transaction, in the journal before it is answered. It waits for the next block, or for each one while it is retried. */
export function acceptTransaction(
  ledger: SolanaLedger,
  transaction: ReceivedTransaction,
  isRetried: boolean,
): void {
  const { signature, wire } = transaction
  if (ledger.pending.has(signature) || ledger.bySignature.has(signature)) return
  ledger.journal.append({ kind: 'submit', wire: wire.toString('base64'), isRetried })
  ledger.pending.set(signature, { transaction, isRetried, wasTried: false })
  announce(ledger, 'pending')
}

/** Makes a block of what waits, or an empty one, in the next slot that is not skipped. */
export function makeNextBlock(ledger: SolanaLedger, { isEmpty = false } = {}): SlotBlock {
  const clockS = Math.floor(ledger.clock() / 1000)
  let slot = ledger.nextSlot
  while (isSkipped(ledger, slot)) slot += 1
  const parent = headBlock(ledger)
  const timeS = Math.max(clockS, parent.timeS)
  const waiting = new Map(ledger.pending)
  const only = isEmpty ? [] : [...waiting.values()]
  const { block, gone } = makeBlock(ledger, slot, timeS, only)
  const signatures = block.transactions.map(({ transaction }) => transaction.signature)
  try {
    ledger.journal.append({ kind: 'block', slot, timeS, signatures, hash: block.hash })
  } catch (error) {
    takeBack(ledger, parent)
    ledger.pending = waiting
    throw error
  }
  drop(ledger, gone)
  announce(ledger, 'block')
  return block
}

/** Leaves slots without a block. */
export function skipSlots(ledger: SolanaLedger, slots: number): void {
  const nextSlot = ledger.nextSlot + slots
  ledger.journal.append({ kind: 'fork', slot: headBlock(ledger).slot, nextSlot })
  ledger.nextSlot = nextSlot
}

/** `returns`: the transactions wait again. `isForced`: final blocks are taken back, too. */
export type ForkOptions = { returns?: boolean; isForced?: boolean }

/**
 * Takes back the blocks after a slot, as a fork does that loses: their slots count as skipped. Their transactions wait again where
 * they return. Returns the blocks, oldest first.
 */
export function fork(
  ledger: SolanaLedger,
  slot: number,
  { returns = true, isForced = false }: ForkOptions = {},
): SlotBlock[] {
  const kept = ledger.bySlot.get(slot)
  if (!kept) throw new Error(`slot ${slot} has no block`)
  if (!isForced && kept.height < finalizedBlock(ledger).height)
    throw new Error(`slot ${slot} is before the final block`)
  ledger.journal.append({ kind: 'fork', slot, nextSlot: ledger.nextSlot })
  const lost = takeBack(ledger, kept)
  const transactions = lost.flatMap((block) => block.transactions.map(({ transaction }) => transaction))
  announce(ledger, 'fork')
  if (returns) for (const transaction of transactions) acceptTransaction(ledger, transaction, true)
  return lost
}

/** Forgets a transaction that waits, or all of them, as nodes do that restart. */
export const dropWaiting = (ledger: SolanaLedger, signature?: string): void =>
  drop(
    ledger,
    [...ledger.pending.keys()].filter((each) => signature === undefined || each === signature),
  )

/** More skipped slots of a hundred than any network ever had. */
const skipPercentMax = 90

export function setSkipPercent(ledger: SolanaLedger, percent: number): void {
  if (!Number.isInteger(percent) || percent < 0 || percent > skipPercentMax)
    throw new Error(`the number of skipped slots of a hundred must be whole, and at most ${skipPercentMax}`)
  ledger.journal.append({ kind: 'skip', percent })
  ledger.skipPercent = percent
}

/** Whether a transaction can be part of no block after this one. */
export const isTooOld = (ledger: SolanaLedger, { message }: ReceivedTransaction, head: SlotBlock): boolean =>
  !isRecent(ledger, message.blockhash, head) && !usesNonce(message, ledger.vm.account, head.hash)

/** Whether a slot has no block: the same for each replay of a ledger. */
function isSkipped({ skipPercent }: SolanaLedger, slot: number): boolean {
  if (skipPercent === 0) return false
  return createHash('sha256').update(`slot ${slot}`).digest().readUInt16LE() % 100 < skipPercent
}

/** Makes a block. Returns it with the signatures of transactions that can be in no block, or are not tried again. */
function makeBlock(
  ledger: SolanaLedger,
  slot: number,
  timeS: number,
  waiting: readonly PooledTransaction[],
): { block: SlotBlock; gone: string[] } {
  const parent = headBlock(ledger)
  const changed = new Map<string, VmAccount | undefined>()
  const transactions: BankedTransaction[] = []
  const gone: string[] = []
  ledger.vm.setClock(slot, timeS)
  for (const pending of waiting) {
    const { transaction, isRetried } = pending
    const { signature, message } = transaction
    if (ledger.bySignature.has(signature) || isTooOld(ledger, transaction, parent)) {
      gone.push(signature)
      continue
    }
    if (transactions.length === blockTransactionsMax) continue
    const nonce = isRecent(ledger, message.blockhash, parent) ? undefined : nonceAccountOf(message)
    const result = executeInBank(ledger.vm, transaction, { slot, parentHash: parent.hash, nonce })
    if ('refused' in result) {
      pending.wasTried = true
      if (!isRetried) gone.push(signature)
      continue
    }
    for (const [address, account] of result.changed) if (!changed.has(address)) changed.set(address, account)
    transactions.push(result.executed)
    ledger.bySignature.set(signature, result.executed)
    ledger.pending.delete(signature)
  }
  const signatures = transactions.map(({ transaction }) => transaction.signature)
  const block: SlotBlock = {
    slot,
    parentSlot: parent.slot,
    height: parent.height + 1,
    hash: slotHashOf(parent.hash, slot, timeS, signatures),
    parentHash: parent.hash,
    timeS,
    transactions,
    changed,
  }
  addBlock(ledger, block)
  return { block, gone }
}

function addBlock(ledger: SolanaLedger, block: SlotBlock): void {
  ledger.blocks.push(block)
  ledger.bySlot.set(block.slot, block)
  ledger.byHash.set(block.hash, block)
  ledger.nextSlot = block.slot + 1
  const old = ledger.blocks[block.height - changesKept]
  if (old) ledger.blocks[old.height] = forgetChanges(ledger, old)
}

function forgetChanges({ bySlot, byHash }: SolanaLedger, block: SlotBlock): SlotBlock {
  const without = { ...block, changed: new Map() }
  bySlot.set(block.slot, without)
  byHash.set(block.hash, without)
  return without
}

/** Takes back the blocks after one, newest first, and their changes. Returns them oldest first. */
function takeBack(ledger: SolanaLedger, kept: SlotBlock): SlotBlock[] {
  const lost = ledger.blocks.splice(kept.height + 1)
  for (const block of [...lost].reverse()) {
    for (const [address, account] of block.changed) ledger.vm.setAccount(address, account)
    for (const { transaction } of block.transactions) ledger.bySignature.delete(transaction.signature)
    ledger.bySlot.delete(block.slot)
    ledger.byHash.delete(block.hash)
  }
  ledger.vm.setClock(kept.slot, kept.timeS)
  return lost
}

function drop(ledger: SolanaLedger, signatures: readonly string[]): void {
  if (signatures.length === 0) return
  for (const signature of signatures) ledger.pending.delete(signature)
  ledger.journal.append({ kind: 'drop', signatures: [...signatures] })
}

function announce(ledger: SolanaLedger, change: LedgerChange): void {
  for (const listener of ledger.listeners) listener(change)
}

/** Executes the journal again. */
function replay(ledger: SolanaLedger): void {
  for (const entry of ledger.journal.takeEntries()) {
    if (entry.kind === 'submit') {
      const { isRetried } = entry
      const transaction = receive(Buffer.from(entry.wire, 'base64'))
      ledger.pending.set(transaction.signature, { transaction, isRetried, wasTried: false })
    } else if (entry.kind === 'drop')
      for (const signature of entry.signatures) ledger.pending.delete(signature)
    else if (entry.kind === 'fork') {
      takeBack(ledger, ledger.bySlot.get(entry.slot)!)
      ledger.nextSlot = entry.nextSlot
    } else if (entry.kind === 'skip') ledger.skipPercent = entry.percent
    else if (entry.kind === 'blocks') ledger.blockMode = entry.mode
    else if (entry.kind === 'time') ledger.time = entry.time
    else if (entry.kind === 'block') {
      const only = entry.signatures.map((signature) => ledger.pending.get(signature)!)
      const { block } = makeBlock(ledger, entry.slot, entry.timeS, only)
      if (block.hash !== entry.hash)
        throw new Error(
          `The journal of the local Solana ledger gives another block in slot ${entry.slot} than before`,
        )
    }
  }
}

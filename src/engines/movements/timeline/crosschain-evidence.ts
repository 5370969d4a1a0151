import { type AttestationSignature, attestationSignatures } from '#custody/installation/index'
import { type MessageHistory, readMessageHistory } from '#engines/attestation/index'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHashAt, stepsOfBlocks } from '#engines/indexer/index'
import {
  blocksOfMessages,
  blocksOfNonces,
  type CrosschainUse,
  crosschainUses,
  type HoldingBlock,
} from '#engines/indexer/observed/index'
import type { Movement } from '#engines/movement'
import { type SignedAttempt, signedAttempts } from '#engines/transactions/history/index'
import { findTransferHistory, type TransferHistory } from '#engines/unified-balance/index'
import type { Db } from '#runtime/db/db'
import { eventsOf, installationId, type RecordedEvent } from '#runtime/record/store'
import { type BlockStay, noncesOf, staysOf } from './block-lanes.ts'
import { instantMs } from './types.ts'

/** A time in which a block counted that delivers, mints or burns. */
export type UseStay = BlockStay & Pick<CrosschainUse, 'blockchain' | 'kind' | 'subject'>

/** The transaction of a treasury that delivers a message, mints a transfer or burns for it. */
export type Carrier = {
  id: string
  blockchain: string
  attempts: readonly SignedAttempt[]
  /** Of all transactions with its nonces. */
  stays: readonly BlockStay[]
  events: readonly RecordedEvent[]
}

type CrosschainRecords = {
  /** The blocks of the burn of a message, or of the mint of a transfer. */
  blocks: readonly HoldingBlock[]
  /** Signatures of this server. */
  signatures: readonly AttestationSignature[]
  uses: readonly UseStay[]
  carriers: readonly Carrier[]
  /** When the last block passed in which it could be minted. */
  expiredMs: number | undefined
}

export type MessageEvidence = CrosschainRecords & {
  message: MessageHistory
  lossBookedMs: number | undefined
}
export type TransferEvidence = CrosschainRecords & { transfer: TransferHistory }
export type CrosschainEvidence = MessageEvidence | TransferEvidence

/** Reads what is recorded of a message or a transfer of a unified balance; undefined of other movements. */
export async function readCrosschainEvidence(
  ctx: EngineCtx,
  { kind, id, blockchain, txHash }: Movement,
): Promise<CrosschainEvidence | undefined> {
  const { db } = ctx
  if (kind === 'message') {
    const message = await readMessageHistory(ctx, id)
    return message && messageEvidence(db, message, await blocksOfMessages(db, blockchain, txHash!))
  }
  if (kind !== 'unifiedTransfer') return undefined
  const transfer = await findTransferHistory(db, id)
  return transfer && transferEvidence(db, transfer)
}

/** A loss may be booked more than once; the last one counts. */
const lossesMax = 20

async function messageEvidence(
  db: Db,
  message: MessageHistory,
  blocks: readonly HoldingBlock[],
): Promise<MessageEvidence> {
  const { nonce, destination, expirationBlock, isFinalAttestation, forwardId, forwardEntityId } = message
  const uses = (await crosschainUses(db, [nonce])).filter(({ kind }) => kind === 'messageReceived')
  const hasEnd = destination !== undefined && !isFinalAttestation && expirationBlock !== null
  const losses = (await eventsOf(db, installationId, nonce, lossesMax)).map(({ recordedAt }) => recordedAt)
  return {
    message,
    blocks,
    signatures: await attestationSignatures(db, 'message', [nonce]),
    uses: await withStays(db, uses),
    carriers: await carriersOf(db, [{ id: forwardId, entityId: forwardEntityId, blockchain: destination }]),
    expiredMs: hasEnd ? (await stepAt(db, destination, Number(expirationBlock)))?.appliedMs : undefined,
    lossBookedMs: losses.length === 0 ? undefined : instantMs(losses.at(-1)!),
  }
}

async function transferEvidence(db: Db, transfer: TransferHistory): Promise<TransferEvidence> {
  const { intents, burns, blockchain, forwardId, forwardEntityId, expirationBlock } = transfer
  const specHashes = intents.map(({ specHash }) => specHash)
  const uses = (await crosschainUses(db, specHashes)).filter(({ kind }) => kind !== 'messageReceived')
  const batches = burns.map((burn) => ({
    id: burn.batchId,
    entityId: burn.payerEntityId,
    blockchain: burn.blockchain,
  }))
  return {
    transfer,
    blocks: uses.filter((use) => use.kind === 'minted' && use.blockchain === blockchain),
    signatures: await attestationSignatures(db, 'balance', specHashes.slice(0, 1)),
    uses: await withStays(db, uses),
    carriers: await carriersOf(db, [{ id: forwardId, entityId: forwardEntityId, blockchain }, ...batches]),
    // It expires when the block after its last one is final.
    expiredMs:
      transfer.state === 'expired' ? (await stepAt(db, blockchain, expirationBlock + 1))?.finalMs : undefined,
  }
}

/** When the canonical block of this height was applied, and final. */
async function stepAt(db: Db, blockchain: string, number: number) {
  const hash = await canonicalHashAt(db, blockchain, number)
  const steps = hash === undefined ? [] : await stepsOfBlocks(db, blockchain, [hash])
  const last = steps.findLast(({ kind }) => kind === 'applied')
  if (!last?.recordedAt) return undefined
  const finalMs = last.finalAt === null ? undefined : instantMs(last.finalAt)
  return { appliedMs: instantMs(last.recordedAt), finalMs }
}

async function withStays(db: Db, uses: readonly CrosschainUse[]): Promise<UseStay[]> {
  const stays: UseStay[] = []
  for (const blockchain of new Set(uses.map((use) => use.blockchain))) {
    const there = uses.filter((use) => use.blockchain === blockchain)
    const steps = await stepsOfBlocks(db, blockchain, [...new Set(there.map(({ blockHash }) => blockHash))])
    stays.push(...(staysOf(there, steps) as UseStay[]))
  }
  return stays.sort((one, other) => one.fromMs - other.fromMs)
}

const eventsMax = 100

type CarrierKey = { id: string | null; entityId: string | null; blockchain: string | undefined }

/** The transactions of treasuries, each once: a batch burns for several signatures. */
async function carriersOf(db: Db, keys: readonly CarrierKey[]): Promise<Carrier[]> {
  const carriers = new Map<string, Carrier>()
  for (const { id, entityId, blockchain } of keys) {
    if (id === null || entityId === null || blockchain === undefined || carriers.has(id)) continue
    const attempts = await signedAttempts(db, entityId, [id])
    const blocks = await blocksOfNonces(db, entityId, blockchain, noncesOf(attempts))
    const steps = await stepsOfBlocks(db, blockchain, [...new Set(blocks.map(({ blockHash }) => blockHash))])
    const events = await eventsOf(db, entityId, id, eventsMax)
    carriers.set(id, { id, blockchain, attempts, stays: staysOf(blocks, steps), events })
  }
  return [...carriers.values()]
}

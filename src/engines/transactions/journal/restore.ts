import { restorePayloads } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { bytesOf } from '#lib/hex'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import {
  markMaybeSent,
  missingAttempts,
  restoreAttempts,
  restoreTransactions,
} from '../store/journal-copies.ts'
import { announceWork } from '../store/transactions.ts'
import type { JournalRecord } from './journal.ts'

/**
 * Restores the records that are missing in the database: attempts with their transactions, and their payloads in the signing
 * ledger. Returns the missing ones.
 */
export async function restoreRecords(
  tx: Db,
  ctx: EngineCtx,
  records: readonly JournalRecord[],
): Promise<JournalRecord[]> {
  const refs = records.map(({ entityId, attemptId }) => ({ entityId, id: attemptId }))
  const missing = await missingAttempts(tx, refs)
  await markMaybeSent(
    tx,
    refs.filter(({ id }) => !missing.has(id)),
  )
  if (missing.size === 0) return []
  const lost = records.filter(({ attemptId }) => missing.has(attemptId))
  const byId = new Map(lost.map((record) => [record.attemptId, record]))
  const copies = new Map(
    lost.map(({ entityId, transactionId, transaction }) => [`${entityId}:${transactionId}`, transaction]),
  )
  await restoreTransactions(tx, [...copies.values()])
  const placed = await restoreAttempts(tx, [...byId.values()])
  await restorePayloads(tx, [...byId.values()].flatMap(payloadsIn))
  for (const { attemptId, txHash, blockchain, address, nonce } of byId.values())
    if (!placed.has(attemptId))
      raiseAlarm(
        ctx.log,
        'journal-conflict',
        { blockchain, address, nonce, txHash },
        'the nonce of a journaled transaction was assigned again: only one of the two can be mined',
      )
  await note(tx, ctx, [...byId.values()])
  return [...byId.values()]
}

async function note(tx: Db, ctx: EngineCtx, records: readonly JournalRecord[]): Promise<void> {
  await recordChanges(
    tx,
    ctx.clock.nowMs(),
    records.map(({ entityId, transactionId, txHash }) => ({
      entityId,
      actor: 'journal',
      type: 'transaction.restored',
      resourceId: transactionId,
      data: { txHash },
    })),
  )
  for (const blockchain of new Set(records.map((record) => record.blockchain)))
    await announceWork(tx, blockchain)
}

/** A payload as `writer.ts` wrote it. */
type JournaledPayload = {
  ordinal: number
  digest: string
  replaces: string | null
  maxFee: string
  priorityFee: string
  intentId: string
  noop: boolean
  createDate: string
  /** Absent in records of versions that signed nothing with an expiry. */
  expiresMs?: number | null
  lastHeight?: number | null
  deathProof?: string | null
}

function payloadsIn({ entityId, address, blockchain, nonce, payloads }: JournalRecord) {
  return (JSON.parse(payloads) as JournaledPayload[]).map((kept) => ({
    entityId,
    address,
    blockchain,
    nonce,
    ordinal: kept.ordinal,
    digest: bytesOf(`0x${kept.digest}`),
    replaces: kept.replaces === null ? null : bytesOf(`0x${kept.replaces}`),
    maxFeeAtomic: BigInt(kept.maxFee),
    priorityFeeAtomic: BigInt(kept.priorityFee),
    intentId: kept.intentId,
    noop: kept.noop,
    createDate: kept.createDate,
    expiresMs: kept.expiresMs,
    lastHeight: kept.lastHeight,
    deathProof: kept.deathProof,
  }))
}

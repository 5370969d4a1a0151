import { eraseGrants } from '#custody/index'
import { releaseAllowance } from '#custody/policy/index'
import type { EngineCtx } from '#engines/ctx'
import { highestFinal, type Step } from '#engines/indexer/index'
import { canonicalTransactionsBetween, finalNonceUses } from '#engines/indexer/observed/index'
import { resolveHolds } from '#engines/ledger/holds/index'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { inFlightElsewhere, lockNonces, markDisplaced, type NonceUse } from '../store/attempts.ts'
import { requeue } from '../store/chain-effects.ts'
import { noopFeeHolders } from '../store/gaps.ts'
import { announceWork } from '../store/transactions.ts'

/**
 * Requeues transactions whose nonces were used with the same key outside the platform. A used nonce alone proves nothing:
 * only when the transaction that used it is known, external and final are the displaced ones signed again with other nonces.
 */
export async function requeueAfterExternalUse(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, finalFrom, finalTo }: Step,
): Promise<void> {
  await requeueDisplaced(
    ctx,
    tx,
    blockchain,
    await canonicalTransactionsBetween(tx, blockchain, finalFrom, finalTo),
  )
}

/**
 * Requeues transactions that were signed after the external one was indexed, because a lagging node counted their nonces as
 * unused. Locks one address at a time and, like all signing, requires that every journal is merged, since journals may hold
 * attempts that the database lost.
 */
export async function requeueAfterOverlookedUse(
  ctx: EngineCtx,
  blockchain: string,
  attempts: readonly NonceOwner[],
): Promise<void> {
  for (const address of new Set(attempts.map((attempt) => attempt.address)))
    await ctx.database.tx(async (tx) => {
      if (!(await lockNonces(tx, blockchain, address))) return
      const nonces = attempts.filter((attempt) => attempt.address === address)
      const finalTo = await highestFinal(tx, blockchain)
      await requeueDisplaced(ctx, tx, blockchain, await finalNonceUses(tx, blockchain, finalTo, nonces))
    })
}

type NonceOwner = Pick<NonceUse, 'entityId' | 'address' | 'nonce'>

async function requeueDisplaced(
  ctx: EngineCtx,
  tx: Db,
  blockchain: string,
  final: readonly NonceUse[],
): Promise<void> {
  if (final.length === 0) return
  const displaced = await markDisplaced(tx, blockchain, final)
  if (displaced.length === 0) return
  const nowMs = ctx.clock.nowMs()
  const own = displaced.filter(({ kind }) => kind !== 'noop')
  // A restored database may have followed only now what displaced them before: a journal has what was signed in their place.
  const signedAnew = await inFlightElsewhere(tx, own)
  const intents = own.filter(({ transactionId }) => !signedAnew.has(transactionId))
  await resolveHolds(tx, nowMs, [
    ...(await noopFeeHolders(tx, displaced)).map((intent) => ({ ...intent, outcome: 'voided' as const })),
    ...intents.map(({ entityId, transactionId }) => ({
      entityId,
      intentId: transactionId,
      purpose: 'fee' as const,
      outcome: 'voided' as const,
    })),
  ])
  const changed = await requeue(
    tx,
    nowMs,
    intents.map(({ entityId, transactionId }) => ({ entityId, id: transactionId })),
  )
  const cancelled = changed
    .filter(({ state }) => state !== 'QUEUED')
    .map(({ entityId, id }) => ({ entityId, intentId: id }))
  await resolveHolds(
    tx,
    nowMs,
    cancelled.map((intent) => ({ ...intent, outcome: 'voided' })),
  )
  await eraseGrants(tx, cancelled)
  await releaseAllowance(tx, nowMs, cancelled)
  await recordChanges(
    tx,
    nowMs,
    changed.map(({ entityId, id, state }) => ({
      entityId,
      actor: 'transactions',
      type: `transaction.${state.toLowerCase()}`,
      resourceId: id,
      data: { state, reason: 'NONCE_USED_OUTSIDE' },
    })),
  )
  raiseAlarm(
    ctx.log,
    'nonce-used-outside',
    { blockchain, transactions: intents.map(({ transactionId }) => transactionId) },
    'a key is used outside the platform: the displaced transactions are signed again with other nonces',
  )
  await announceWork(tx, blockchain)
}

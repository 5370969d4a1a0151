/**
 * Grants of transactions in flight whose rows were restored from a journal, which has no keys (decision 9). The bytes that were
 * signed prove what policy decided on, so that no changed row and no other nonce gets a grant.
 */
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import { grantPlatformSigning, grantSigning, hasGrant, type KeyOpener } from '#custody/index'
import { type Decision, repeatDecision, type SignedIntent } from '#custody/policy/index'
import type { Ctx, EngineCtx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { hexOf } from '#lib/hex'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { callOf, intentBytes } from './intent.ts'
import { signedBytesOf } from './store/attempts.ts'
import { intentOf, type Ref, type TransactionRow, type WaitingTransaction } from './store/transactions.ts'

/**
 * Stores a grant for the transaction of a wallet, in `ctx.db`'s tx, unless it has one. Throws `transactionNotEligible` where
 * no signed bytes on record prove its content.
 */
export async function renewGrant(
  ctx: Ctx,
  opener: KeyOpener,
  { id, blockchain }: TransactionRow,
): Promise<void> {
  const ref = { entityId: ctx.entity.id, id }
  if (await hasGrant(ctx.db, { entityId: ref.entityId, intentId: id })) return
  const chain = ctx.chains.find(blockchain)
  if (!chain) throw new ApiError('chainNotStarted')
  const row = await intentOf(ctx.db, ref.entityId, id)
  const renewed = await renew(ctx, chain, row, ctx.actor, (decision) => grantSigning(ctx, opener, decision))
  if (!renewed)
    throw new ApiError(
      'transactionNotEligible',
      'The database was restored from an older copy, and no signed bytes on record prove the content of this transaction: it completes as it was sent, or waits until prices fall.',
    )
}

/** Stores a grant for the transaction of a treasury, whose key opens without its owner, unless it has one. */
export async function renewTreasuryGrant(tx: Db, ctx: EngineCtx, chain: Chain, ref: Ref): Promise<void> {
  if (await hasGrant(tx, { entityId: ref.entityId, intentId: ref.id })) return
  const row = await intentOf(tx, ref.entityId, ref.id)
  if (!row.ofTreasury) return
  const scope = { ...ctx, db: tx }
  await renew(scope, chain, row, 'transactions', (decision) => grantPlatformSigning(scope, decision))
}

async function renew(
  ctx: EngineCtx,
  chain: Chain,
  row: WaitingTransaction,
  actor: string,
  grant: (decision: Decision) => Promise<void>,
): Promise<boolean> {
  const { entityId, id } = row
  const signed = await signedIntentOf(ctx.db, chain, row)
  const decision = signed && (await repeatDecision(ctx, signed))
  if (!decision) return false
  await grant(decision)
  const data = { policy: decision.evidence }
  await recordChanges(ctx.db, ctx.clock.nowMs(), [
    { entityId, actor, type: 'transaction.grantRenewed', resourceId: id, data },
  ])
  return true
}

/** The payload that was signed for this transaction by its sender, at the nonce of its attempt, with exactly its content. */
async function signedIntentOf(
  db: Db,
  chain: Chain,
  row: WaitingTransaction,
): Promise<SignedIntent | undefined> {
  const { entityId, id, address } = row
  const { blockchain } = chain.network
  const family = capabilitiesOf(blockchain).keys!
  const intent = intentBytes({ blockchain, ...row })
  const call = callOf(row)
  for (const { nonce, raw } of await signedBytesOf(db, row)) {
    const read = await chain.payments.readSigned(hexOf(raw))
    if (!read || read.from !== address || read.nonce !== nonce) continue
    const { to, valueAtomic, data } = read
    if (to !== call.to || valueAtomic !== call.valueAtomic || data !== call.data) continue
    const payload = chain.payments.payloadOf(read)
    return { entityId, intentId: id, address, blockchain, nonce, intent, payload, family }
  }
  return undefined
}

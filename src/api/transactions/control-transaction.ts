import { networkOf } from '#chains/networks/index'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { findTransaction, type TransactionRow } from '#engines/transactions/index'
import { type ReplacementKind, requestReplacement } from '#engines/transactions/sequence/index'
import { ApiError, notFound } from '#lib/errors'
import { usableBy } from '#runtime/row-owner'

/**
 * Replaces a pending transaction, or the bundle with its operation, by one with the price of the highest fee level. Its id stays
 * the same.
 */
export async function accelerateTransaction(ctx: Ctx, id: string, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return { id: (await replaceTransaction(ctx, id, 'bump', secret)).id }
}

/** Cancels a transaction: at once while nothing is signed, else by a no-op transaction with its nonce. */
export async function cancelTransaction(ctx: Ctx, id: string, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  const row = await replaceTransaction(ctx, id, 'cancel', secret)
  return { id: row.id, state: row.state }
}

/** Requests the replacement of a transaction that the caller may act with. */
export async function replaceTransaction(
  ctx: Ctx,
  id: string,
  requested: ReplacementKind,
  opener: KeyOpener,
): Promise<TransactionRow> {
  const row = await requireReplaceable(ctx, id)
  const changed = await requestReplacement(ctx, opener, row, requested)
  if (changed) return changed
  throw new ApiError('transactionNotEligible', `The transaction is ${reasonAgainst(requested, row)}.`)
}

/** An outgoing transaction of the caller, on a chain that can replace one. */
export async function requireReplaceable(ctx: Ctx, id: string): Promise<TransactionRow> {
  const row = await findTransaction(ctx.db, usableBy(ctx), id)
  if (row?.transactionType !== 'OUTBOUND') throw notFound('transaction', id, 'transactionNotFound')
  if (networkOf(row.blockchain)?.replaceable === false) throw new ApiError('replacementUnsupported')
  return row
}

function reasonAgainst(requested: ReplacementKind, { state, userOpHash }: TransactionRow): string {
  const isSent = state === 'SENT' || state === 'STUCK'
  if (requested === 'cancel' && (userOpHash !== null || state === 'QUEUED'))
    return `${state}: once an operation of its smart account is signed, it cannot be cancelled`
  if (requested === 'cancel')
    return `${state}: only INITIATED, CLEARED, QUEUED, SENT and STUCK transactions can be cancelled`
  if (userOpHash !== null && isSent)
    return `${state}: your treasury has yet to send the bundle with its operation, at the price of that moment`
  if (isSent) return 'being cancelled: to raise the fee of the cancellation, cancel it again'
  return `${state}: only SENT and STUCK transactions can be accelerated`
}

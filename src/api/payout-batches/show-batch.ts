import { showMoney } from '#api/business/money'
import { showPurpose } from '#api/business/purpose'
import type { Ctx } from '#engines/ctx'
import { merchantBalances } from '#engines/treasury/index'
import type {
  BatchTotal,
  FeeEstimate,
  PayoutBatch,
  ShownBatchRow,
} from '#engines/treasury/payout-batches/index'
import { formatAmount } from '#lib/amounts'

/** A batch as lists show it. */
export function showBatch({ entityId: _, identities, approvalRequestId: __, ...whole }: PayoutBatch) {
  const { purposeOfTransfer: ___, ...batch } = whole
  const { approvedBy, rowCount, createdCount, failedCount, ...rest } = batch
  return {
    ...rest,
    ...(approvedBy !== null && { approvedBy }),
    ...showPurpose(whole),
    hasSenders: identities !== null,
    rowCount,
    createdCount,
    failedCount,
    waitingCount: rowCount - createdCount - failedCount,
  }
}

/** A batch with its sums, and what there is to pay them with at this moment. */
export async function showWholeBatch(
  ctx: Ctx,
  batch: PayoutBatch,
  totals: readonly BatchTotal[],
  fees: readonly FeeEstimate[],
) {
  const { available } = await merchantBalances(ctx.db, batch.entityId)
  const sums = new Map<string, bigint>()
  for (const { currency, amount } of totals) sums.set(currency, (sums.get(currency) ?? 0n) + amount)
  return {
    ...showBatch(batch),
    totals: totals.map(({ chain, currency, amount, rowCount }) => ({
      chain,
      rowCount,
      amount: showMoney(amount, currency),
    })),
    funds: [...sums].map(([currency, sum]) => {
      const owned = available.find((each) => each.currency === currency)?.atomic ?? 0n
      return {
        total: showMoney(sum, currency),
        available: showMoney(owned, currency),
        suffices: owned >= sum,
      }
    }),
    fees: fees.map(({ blockchain, symbol, decimals, feeAtomic, ownedAtomic }) => ({
      blockchain,
      symbol,
      ...(feeAtomic !== undefined && { atMost: formatAmount(feeAtomic, decimals) }),
      owned: formatAmount(ownedAtomic, decimals),
    })),
  }
}

/** A row of a batch; the state of one whose batch was cancelled is that, unless it had become a payout. */
export function showRow(row: ShownBatchRow, batch: PayoutBatch) {
  const { id, number, cells, problems, recipientId, chain, toAddress, currency, amount, reference } = row
  const { state, errorCode, errorText, payoutStatus, payoutErrorCode, transactionHash, createDate } = row
  return {
    id,
    row: number,
    state: state === 'waiting' && batch.state === 'cancelled' ? ('cancelled' as const) : state,
    cells,
    problems,
    ...(recipientId && { recipientId }),
    ...(chain && { chain }),
    ...(toAddress && { address: toAddress }),
    ...(amount !== null && currency && { amount: showMoney(amount, currency) }),
    ...(reference !== null && { reference }),
    ...(errorCode !== null && { error: { code: errorCode, message: errorText ?? '' } }),
    ...(payoutStatus !== null && {
      payout: {
        id,
        status: payoutStatus,
        ...(payoutErrorCode !== null && { errorCode: payoutErrorCode }),
        ...(transactionHash !== null && { transactionHash }),
      },
    }),
    createDate,
  }
}

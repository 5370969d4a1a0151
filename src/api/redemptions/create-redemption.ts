import type { Static } from 'typebox'
import { readAmount } from '#api/business/read-amount'
import { requireBank } from '#api/business/require-bank'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { currencyDecimals } from '#engines/ledger/index'
import { lockBankAccount, redeem } from '#engines/treasury/banking/index'
import { ApiError, invalid } from '#lib/errors'
import { getRedemption } from './read-redemptions.ts'
import type { newRedemptionSchema } from './schema.ts'

/** Digits of a bank amount after the point: cents. */
const centDigits = 2

export async function createRedemption(ctx: Ctx, { body }: { body: Static<typeof newRedemptionSchema> }) {
  const bank = requireBank(ctx)
  const { amount: money, toAmount, destination } = body
  for (const [at, currency] of [
    ['amount.currency', money.currency],
    ['toAmount.currency', toAmount?.currency ?? 'USD'],
  ] as const)
    if (currency !== 'USD')
      throw invalid({
        at,
        reason: 'must be USD: banks are paid in dollars',
        value: currency,
        kind: 'currencyUnsupportedForOperation',
      })
  const cents = readAmount('amount.amount', money.amount, centDigits, 'payoutAmountNotPositive')
  const account = await lockBankAccount(ctx.db, ctx.entity.id, destination.id, 'share')
  if (account?.status !== 'complete')
    throw invalid({
      at: 'destination.id',
      reason: account
        ? `is a bank account whose status is ${account.status}: ${account.status === 'pending' ? 'wait until it is complete' : 'link another one'}`
        : 'is no linked bank account: link one with POST /v1/businessAccount/banks/wires',
      value: destination.id,
    })
  try {
    const id = await redeem(ctx, bank, account, cents * 10n ** BigInt(currencyDecimals - centDigits))
    return await getRedemption(ctx, id)
  } catch (error) {
    if (error instanceof InsufficientFunds) throw new ApiError('transferFundsInsufficient')
    throw error
  }
}

import type { Static } from 'typebox'
import { readMoney, requirePaymentDestination } from '#api/business/disbursement'
import { requirePurpose } from '#api/business/purpose'
import { checkIdentity } from '#api/identity'
import { requireMainWallet } from '#api/sources/source-wallet'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { currencyDecimals } from '#engines/ledger/index'
import { lockPayee } from '#engines/treasury/address-book/index'
import { openPayout } from '#engines/treasury/disbursements/index'
import { parseAmount } from '#lib/amounts'
import { ApiError, invalid } from '#lib/errors'
import type { newPayoutSchema } from './schema.ts'
import { showPayout } from './show-payout.ts'

type CreatePayoutBody = Static<typeof newPayoutSchema>

export async function createPayout(ctx: Ctx, { body }: { body: CreatePayoutBody }) {
  const { source, destination } = body
  const money = readMoney(body.amount, 'payoutAmountNotPositive')
  checkToAmount(body)
  const purposeOfTransfer = requirePurpose(ctx, body.purposeOfTransfer, 'payoutPurposeInvalid')
  requireMainWallet(ctx, 'source.id', source?.id, 'sourceWalletUnknown')
  const identities = source?.identities ?? []
  for (const [index, identity] of identities.entries()) checkIdentity(identity, `source.identities[${index}]`)
  const recipient = await lockPayee(ctx.db, ctx.entity.id, destination.id, 'destination.id')
  if (destination.chain !== undefined && destination.chain !== recipient.chain)
    throw invalid({
      at: 'destination.chain',
      reason: `contradicts the recipient, whose address is on ${recipient.chain}: omit it, or choose a recipient on ${destination.chain}`,
      value: destination.chain,
    })
  const at = { chain: 'destination.id', address: 'destination.id' }
  const { decimals: _, ...to } = await requirePaymentDestination(ctx, at, recipient, money)
  const asked = {
    ...to,
    recipientId: recipient.id,
    identities: identities.length > 0 ? identities : null,
    purposeOfTransfer,
  }
  try {
    return showPayout(await openPayout(ctx, asked))
  } catch (error) {
    if (error instanceof InsufficientFunds) throw new ApiError('payoutFundsInsufficient')
    throw error
  }
}

/** Stablecoins are not exchanged: the amount that arrives equals the amount that leaves. */
function checkToAmount({ amount, toAmount }: CreatePayoutBody): void {
  if (!toAmount) return
  const { currency } = amount
  const { amount: text } = toAmount
  if (toAmount.currency !== currency)
    throw invalid({
      at: 'toAmount.currency',
      reason: `must be ${currency}, the currency of amount`,
      value: toAmount.currency,
      kind: 'currencyUnsupportedForOperation',
    })
  if (text && parseAmount(text, currencyDecimals) !== parseAmount(amount.amount, currencyDecimals))
    throw invalid({ at: 'toAmount.amount', reason: `must be ${amount.amount}, or absent`, value: text })
}

import type { Static } from 'typebox'
import { requirePurpose } from '#api/business/purpose'
import { readAmount } from '#api/business/read-amount'
import { futureInstantOf } from '#api/future-instant'
import { requireTokenNetwork } from '#api/sources/token-network'
import type { Ctx } from '#engines/ctx'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { openPaymentIntent } from '#engines/treasury/payment-intents/index'
import { invalid } from '#lib/errors'
import type { newPaymentIntentSchema } from './schema.ts'
import { showPaymentIntent } from './show-payment-intent.ts'

type CreatePaymentIntentBody = Static<typeof newPaymentIntentSchema>

export async function createPaymentIntent(ctx: Ctx, { body }: { body: CreatePaymentIntentBody }) {
  const isTransient = body.type === 'transient'
  const currency = currencyOf(body, isTransient)
  checkMerchantWallet(ctx, body.merchantWalletId)
  const purposeOfTransfer = requirePurpose(ctx, body.purposeOfTransfer, 'purposeInvalid')
  const { chain } = body.paymentMethods[0]!
  const { network, decimals } = requireTokenNetwork(ctx, 'paymentMethods[0].chain', chain, currency)
  const due = isTransient
    ? {
        amount: readAmount('amount.amount', body.amount?.amount, decimals, 'paymentAmountNotPositive'),
        expiresOnMs: expiryOf(ctx, body.expiresOn),
      }
    : undefined
  const intent = await openPaymentIntent(ctx, {
    entityId: ctx.entity.id,
    actor: ctx.actor,
    requestId: ctx.requestId,
    currency,
    decimals,
    chain,
    blockchain: network.blockchain,
    family: network.family,
    due,
    purposeOfTransfer,
  })
  return showPaymentIntent(intent, { paymentIds: [], refundIds: [] })
}

function currencyOf(body: CreatePaymentIntentBody, isTransient: boolean): string {
  const inAmount = body.amount?.currency
  const currency = isTransient ? inAmount : (body.currency ?? inAmount)
  const isInAmount = isTransient || (body.currency === undefined && inAmount !== undefined)
  const location = isInAmount ? 'amount.currency' : 'currency'
  if (currency === undefined)
    throw invalid({ at: location, reason: 'is missing: send it', error: 'required' })
  if (currency !== 'USD' && currency !== 'EUR')
    throw invalid({
      at: location,
      reason: 'must be USD (paid in USDC) or EUR (paid in EURC)',
      value: currency,
      kind: 'currencyUnsupported',
    })
  if (body.settlementCurrency !== currency)
    throw invalid({
      at: 'settlementCurrency',
      reason: `must be ${currency}, the currency that is paid`,
      value: body.settlementCurrency,
    })
  return currency
}

function checkMerchantWallet(ctx: Ctx, merchantWalletId: string | undefined): void {
  const own = merchantWalletIdOf(ctx.entity.id)
  if (merchantWalletId && merchantWalletId !== own)
    throw invalid({
      at: 'merchantWalletId',
      reason: `must be ${own} or absent`,
      value: merchantWalletId,
      kind: 'merchantWalletUnknown',
    })
}

const expiryOf = (ctx: Ctx, text: string | undefined): number | undefined =>
  text ? futureInstantOf('expiresOn', text, ctx.clock) : undefined

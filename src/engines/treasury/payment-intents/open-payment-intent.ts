import { createPlatformKey, watchAddress } from '#custody/index'
import type { KeyFamily } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import { insertDepositAddress } from '../deposit-addresses/store.ts'
import { merchantWalletIdOf } from '../merchant-wallet.ts'
import { insertPaymentIntent, type PaymentIntent } from './store.ts'
import { openingTimeline } from './timeline.ts'

type NewPaymentIntent = {
  entityId: string
  actor: string
  requestId: string
  currency: string
  /** Digits of the currency's token on this blockchain. */
  decimals: number
  chain: string
  blockchain: string
  family: KeyFamily
  /** The payment reason code of the request. */
  purposeOfTransfer?: string | null
  /** Amount and expiry of a transient intent; a continuous one takes any amount at any time. */
  due?: { amount: bigint; expiresOnMs?: number | undefined } | undefined
}

/** Payment window of a transient intent unless the request sets its end. */
const windowMs = 8 * 3_600_000

/** Opens an intent with a deposit address of its own, watched from the moment this `tx` commits. */
export async function openPaymentIntent(ctx: EngineCtx, input: NewPaymentIntent): Promise<PaymentIntent> {
  const { entityId, blockchain, chain, currency, due } = input
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const { keyId, address } = await createPlatformKey(ctx, { entityId, family: input.family })
  const timeline = openingTimeline(due ? 'transient' : 'continuous', nowMs)
  const intent: PaymentIntent = {
    entityId,
    id: newId(nowMs),
    type: due ? 'transient' : 'continuous',
    currency,
    settlementCurrency: currency,
    chain,
    blockchain,
    merchantWalletId: merchantWalletIdOf(entityId),
    purposeOfTransfer: input.purposeOfTransfer ?? null,
    decimals: input.decimals,
    amount: due?.amount ?? null,
    amountPaid: 0n,
    amountRefunded: 0n,
    timeline,
    status: timeline[0]!.status,
    context: null,
    depositAddress: address,
    expiresOn: due ? formatInstant(due.expiresOnMs ?? nowMs + windowMs) : null,
    createDate,
    updateDate: createDate,
  }
  const depositId = newId(nowMs)
  await insertPaymentIntent(ctx.db, intent)
  await insertDepositAddress(ctx.db, { ...intent, id: depositId, address, paymentIntentId: intent.id })
  await watchAddress(ctx.db, {
    entityId,
    blockchain,
    address,
    keyId,
    purpose: 'deposit',
    ownerId: depositId,
    createDate,
  })
  const by = { entityId, actor: input.actor, requestId: input.requestId, resourceId: intent.id }
  await recordChanges(ctx.db, nowMs, [
    { ...by, type: 'paymentIntent.created', data: { type: intent.type, currency, blockchain } },
    { ...by, type: `paymentIntent.${intent.status}`, data: { depositAddress: address } },
  ])
  return intent
}

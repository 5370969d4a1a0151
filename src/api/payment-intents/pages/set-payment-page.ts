import type { Static } from 'typebox'
import { requireTokenNetwork } from '#api/sources/token-network'
import type { Ctx } from '#engines/ctx'
import { depositAddressesOfIntent } from '#engines/treasury/deposit-addresses/index'
import {
  lockPaymentIntents,
  offerChains,
  type PaymentIntent,
  takesMoney,
} from '#engines/treasury/payment-intents/index'
import { ApiError, invalid, notFound } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { isLoopback } from '#lib/web-origin'
import { recordChanges } from '#runtime/record/store'
import { pageLinkOf } from './page-link.ts'
import type { newPaymentPageSchema } from './schema.ts'
import { findPaymentPage, type PaymentPageRow, savePaymentPage } from './store.ts'

type SetPaymentPageInput = { params: { id: string }; body: Static<typeof newPaymentPageSchema> }

/** Sets the contents of the page of an intent, and opens addresses on the chains on offer. */
export async function setPaymentPage(ctx: Ctx, { params, body }: SetPaymentPageInput) {
  const entityId = ctx.entity.id
  const [intent] = await lockPaymentIntents(ctx.db, [{ entityId, id: params.id }])
  if (!intent) throw notFound('payment intent', params.id, 'paymentIntentNotFound')
  const returnUrl = readReturnUrl(ctx, body.returnUrl)
  const chains = await offer(ctx, intent, body.chains ?? [])
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const page = await savePaymentPage(ctx.db, {
    entityId,
    paymentIntentId: intent.id,
    merchantName: body.merchantName.trim(),
    description: body.description?.trim() || null,
    returnUrl,
    chains,
    createDate,
    updateDate: createDate,
  })
  const { actor, requestId } = ctx
  await recordChanges(ctx.db, nowMs, [
    {
      entityId,
      actor,
      requestId,
      type: 'paymentPage.set',
      resourceId: intent.id,
      data: { chains, returnUrl },
    },
  ])
  return showSetPage(ctx, page)
}

export async function getPaymentPage(ctx: Ctx, id: string) {
  const page = await findPaymentPage(ctx.db, ctx.entity.id, id)
  if (!page) throw notFound('payment page of intent', id, 'paymentPageNotFound')
  return showSetPage(ctx, page)
}

async function showSetPage(ctx: Ctx, { entityId, paymentIntentId, ...page }: PaymentPageRow) {
  const addresses = await depositAddressesOfIntent(ctx.db, entityId, paymentIntentId)
  return {
    url: pageLinkOf(ctx, { entityId, paymentIntentId }),
    merchantName: page.merchantName,
    ...(page.description && { description: page.description }),
    ...(page.returnUrl && { returnUrl: page.returnUrl }),
    paymentMethods: page.chains.flatMap((chain) =>
      addresses
        .filter((each) => each.chain === chain)
        .map(({ address }) => ({ type: 'blockchain', chain, address })),
    ),
    createDate: page.createDate,
    updateDate: page.updateDate,
  }
}

/** Opens addresses on these chains. Returns all that are on offer, that of the intent first. */
async function offer(ctx: Ctx, intent: PaymentIntent, asked: readonly string[]): Promise<string[]> {
  const further = [...new Set(asked)].filter((chain) => chain !== intent.chain)
  const offered = further.map((chain) => {
    const location = `chains[${asked.indexOf(chain)}]`
    const { network, decimals } = requireTokenNetwork(ctx, location, chain, intent.currency)
    if (decimals !== intent.decimals)
      throw invalid({
        at: location,
        reason: `has a token of ${decimals} digits, and that of the intent has ${intent.decimals}: choose another chain`,
        value: chain,
        kind: 'chainUnfitForCurrency',
      })
    return { chain, blockchain: network.blockchain }
  })
  const present = await depositAddressesOfIntent(ctx.db, intent.entityId, intent.id)
  const isNew = further.some((chain) => !present.some((each) => each.chain === chain))
  if (isNew && !takesMoney(intent, ctx.clock.nowMs())) throw new ApiError('paymentIntentEnded')
  const { actor, requestId } = ctx
  await offerChains(ctx, intent, offered, { entityId: intent.entityId, actor, requestId })
  return [intent.chain, ...further]
}

/** The return address in the form of browsers. It belongs to the page from here on: no address of the page can name another one. */
function readReturnUrl({ config }: Ctx, text: string | undefined): string | null {
  if (!text) return null
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && config.loopbackPages && isLoopback(url))
  if (url && isSafe && url.username === '' && url.password === '') return url.href
  throw invalid({
    at: 'returnUrl',
    reason: `must be an address such as https://shop.example/orders/1042, without a password${
      config.loopbackPages ? ', or http on this machine' : ''
    }`,
    value: text,
  })
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from '@x402/core/http'
import type { PaymentRequirements, SettleResponse } from '@x402/core/types'
import { facilitatorOf } from '#testing/builders/x402-facilitator'
import type { Harness } from '#testing/platform/harness'
import { serveUntilEnd } from './serve.ts'

export type Seller = {
  url: string
  /** The headers with payments that came, newest last. */
  payments: string[]
  /** Requests without a payment. */
  asked(): number
  price: PaymentRequirements
  /** Other ways to pay that are offered before it. */
  otherPrices: PaymentRequirements[]
  /** The answer to a request without a payment; 0 closes its connection. */
  unpaidStatus: number
  settle(header: string): Promise<SettleResponse>
}

/** Answers a request that carries a payment. */
type Deliver = (
  seller: Seller,
  header: string,
  response: ServerResponse,
  request: IncomingMessage,
) => Promise<unknown>

/** Settles, and delivers with the receipt. */
export const deliverOnce: Deliver = async (seller, header, response) => {
  const settled = await seller.settle(header)
  const receipt = { 'PAYMENT-RESPONSE': encodePaymentResponseHeader(settled) }
  if (!settled.success) return response.writeHead(402, receipt).end(settled.errorReason)
  return response.writeHead(200, { ...receipt, 'content-type': 'text/plain' }).end('it will be sunny')
}

/** Settles, and answers in its own way. */
export const settleThen =
  (answer: (response: ServerResponse) => unknown): Deliver =>
  async ({ settle }, header, response) => {
    await settle(header)
    answer(response)
  }

/** A paid server by the published packages, whose facilitator is the harness. */
export async function openSeller(
  harness: Harness,
  { payTo, amount = '100000', deliver = deliverOnce }: { payTo: string; amount?: string; deliver?: Deliver },
): Promise<Seller> {
  const facilitator = facilitatorOf(harness.url, harness.apiKey)
  let asked = 0
  const seller: Seller = {
    url: '',
    payments: [],
    asked: () => asked,
    price: {
      scheme: 'exact',
      network: `eip155:${harness.chain().chainId}`,
      asset: harness.chain().tokens.USDC,
      amount,
      payTo,
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2' },
    },
    otherPrices: [],
    unpaidStatus: 402,
    settle: (header) => facilitator.settle(decodePaymentSignatureHeader(header), seller.price),
  }
  const origin = await serveUntilEnd(harness, (request, response) => {
    const header = request.headers['payment-signature']
    if (typeof header === 'string') {
      seller.payments.push(header)
      return void deliver(seller, header, response, request)
    }
    asked += 1
    if (seller.unpaidStatus === 0) return response.destroy()
    if (seller.unpaidStatus !== 402) return response.writeHead(seller.unpaidStatus).end('without a price')
    const accepts = [...seller.otherPrices, seller.price]
    const required = { x402Version: 2, resource: { url: seller.url }, accepts }
    return response
      .writeHead(402, { 'PAYMENT-REQUIRED': encodePaymentRequiredHeader(required as never) })
      .end()
  })
  seller.url = `${origin}/forecast`
  return seller
}

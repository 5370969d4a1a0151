import { nativeSymbol } from '../api/chains.svelte.ts'
import type { Movement } from '../api/types.ts'
import { amount, id, link, money, mono, text } from '../parts/cell.ts'
import type { DetailScreen, Row } from './screen.ts'

/** Facts of the resource of a movement that the movement itself does not have. */
export type ResourceOf = Pick<DetailScreen<Row>, 'pathOf' | 'member' | 'facts'> & {
  /** Why it failed, in the words of the API. */
  whyOf: (item: Row) => string | undefined
}

type Money = Parameters<typeof money>[0]
type Named = Readonly<Record<string, unknown>>
type Risk = { decision?: string; reason?: string }

const textAt = (item: Named, name: string) => text(item[name] as string | undefined)
const joined = (...parts: unknown[]) => parts.filter(Boolean).join(': ') || undefined
const businessWhy = ({ errorCode, riskEvaluation }: Named) => {
  const { decision, reason } = (riskEvaluation ?? {}) as Risk
  return joined(errorCode, decision && `screening ${decision}${reason ? `, reason ${reason}` : ''}`)
}
const fees: DetailScreen<Row>['facts'] = [
  { title: 'Network fee', cell: (item) => money(item['networkFees'] as Money) },
  { title: 'Your reference', cell: (item) => textAt(item, 'externalRef') },
  { title: 'Waits for', cell: (item) => textAt(item, 'waitingFor') },
]
const intentLink: DetailScreen<Row>['facts'] = [
  {
    title: 'Payment intent',
    cell: ({ paymentIntentId }) => id(paymentIntentId as string, `/payment-intents/${paymentIntentId}`),
  },
]

const payment: ResourceOf = {
  pathOf: (paymentId) => `/v1/payments/${paymentId}`,
  facts: [...intentLink, ...fees],
  whyOf: businessWhy,
}

/** The operation of the public API that reads the resource of a movement. Kinds without one have a page of their own, or none. */
export const resourcesOf: Partial<Record<Movement['kind'], ResourceOf>> = {
  transaction: {
    pathOf: (transactionId) => `/v1/w3s/transactions/${transactionId}`,
    member: 'transaction',
    facts: [
      {
        title: 'Network fee',
        cell: ({ networkFee, blockchain }) =>
          amount(networkFee as string, nativeSymbol(blockchain as string)),
      },
      { title: 'Fee level', cell: (item) => textAt(item, 'feeLevel') },
      { title: 'Call', cell: ({ abiFunctionSignature }) => mono(abiFunctionSignature as string) },
      {
        title: 'Wallet',
        cell: ({ walletId }) => (walletId ? link('Open the wallet', `/wallets/${walletId}`) : undefined),
      },
      { title: 'Reference', cell: (item) => textAt(item, 'refId') },
    ],
    whyOf: ({ errorReason, errorDetails }) => joined(errorReason, errorDetails),
  },
  payment,
  refund: payment,
  payout: {
    pathOf: (payoutId) => `/v1/payouts/${payoutId}`,
    facts: [
      {
        title: 'Recipient',
        cell: ({ destination }) => {
          const recipientId = (destination as { id?: string } | undefined)?.id
          return id(recipientId, `/address-book/${recipientId}`)
        },
      },
      ...fees,
    ],
    whyOf: businessWhy,
  },
  transfer: {
    pathOf: (transferId) => `/v1/businessAccount/transfers/${transferId}`,
    facts: fees,
    whyOf: businessWhy,
  },
}

import {
  makePayment,
  makePaymentIntent,
  makeTransfer,
  makeWallet,
  makeWalletSet,
  type World,
} from './builders.ts'

// biome-ignore lint/suspicious/noExplicitAny: every list has items of its own shape
export type Item = any

/** How the looped collection test fills one list route and reads its items. */
export type Listing = {
  /** The address with its parameters filled in. */
  path: string
  /** What every request must carry, such as a filter that the route requires. */
  query?: Record<string, string>
  /** Makes one more item, dated by the harness clock; resolves when it is listed. */
  add(): Promise<unknown>
  /** The id that is the item's cursor. Default: `id`. */
  idOf?: (item: Item) => string
  /** The date that the list is ordered by; `undefined` where items do not show it. Default: `createDate`. */
  dateOf?: (item: Item) => string | undefined
  /** A list whose items come from a fixed set, such as the tokens of one wallet, holds at most this many. */
  most?: number
}

export type Seeder = (world: World) => Promise<Listing>

/** By method and documented path. A list route that is missing here fails the collection test. */
export const seeders: Record<string, Seeder> = {
  'GET /v1/w3s/walletSets': async (world) => ({
    path: '/v1/w3s/walletSets',
    add: () => makeWalletSet(world),
  }),
  'GET /v1/w3s/wallets': async (world) => ({
    path: '/v1/w3s/wallets',
    add: () => makeWallet(world),
  }),
  'GET /v1/w3s/developer/wallets/balances': async (world) => ({
    path: '/v1/w3s/developer/wallets/balances',
    query: { blockchain: world.harness.chain().blockchain },
    add: () => makeWallet(world),
  }),
  'GET /v1/w3s/transactions': async (world) => ({
    path: '/v1/w3s/transactions',
    query: { txType: 'OUTBOUND' },
    add: () => makeTransfer(world),
  }),
  'GET /v1/paymentIntents': async (world) => ({
    path: '/v1/paymentIntents',
    add: () => makePaymentIntent(world),
  }),
  'GET /v1/payments': async (world) => ({
    path: '/v1/payments',
    add: async () => makePayment(world, (await world.paymentIntent()).depositAddress),
  }),
}

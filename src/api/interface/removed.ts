import type { RemovedPath } from '#runtime/http/server'

type Method = RemovedPath['method']

/** One removed operation under its documented path and, as everywhere, without `/v1`. */
const both = (method: Method, path: string, instead: string): RemovedPath[] => [
  { method, path: `/v1${path}`, instead },
  { method, path, instead },
]

/** A removed resource: its collection and everything under it. */
const all = (path: string, instead: string): RemovedPath[] => [
  ...both('ALL', path, instead),
  ...both('ALL', `${path}/*`, instead),
]

const intents =
  'To be paid in a stablecoin, create a payment intent with POST /v1/paymentIntents and send the customer its address; the payment appears in GET /v1/payments.'
const cards = `Card payments are not part of this interface. ${intents}`
const settlements =
  'A payment is settled when its status is paid: read GET /v1/payments?status=paid; its settlementAmount is what was credited.'
const balances =
  'The balances of a wallet are at GET /v1/w3s/wallets/{id}/balances; what was paid in is in GET /v1/payments?status=paid. Unified balances are read with POST /v1/balances.'
const accounts =
  'Wallets are at /v1/w3s/wallets, the main wallet of a business account in GET /v1/configuration.'
const accountTransfers =
  'Transfers between wallets are made with POST /v1/w3s/developer/transactions/transfer and listed by GET /v1/w3s/transactions. Transfers of unified balances are made with POST /v1/transfer and read with GET /v1/transfer/{id}.'
const rates =
  'Amounts are settled in the currency they are paid in, so there is no rate to ask for: give settlementCurrency the currency of the payment intent.'
const wires = 'Deposits arrive on chain: create a payment intent with POST /v1/paymentIntents.'
const backfill =
  'The indexer follows every chain without gaps, so there is nothing to backfill: derive the wallet with PUT /v1/w3s/developer/wallets/{id}/blockchains/{blockchain} and read GET /v1/w3s/wallets/{id}/balances.'

/**
 * Removed operations that clients still call. `/wallets` without a prefix is missing on purpose: it is a path of the wallet
 * product. So are POST /v1/balances and /v1/transfer, which were never removed.
 */
export const removedPaths: readonly RemovedPath[] = [
  ...both('POST', '/payments', intents),
  ...both('POST', '/payments/crypto', intents),
  ...both('GET', '/payments/presign', intents),
  ...both('POST', '/payments/{id}/capture', cards),
  ...both(
    'POST',
    '/payments/{id}/cancel',
    'A payment on chain cannot be cancelled: it is final when its status is paid.',
  ),
  ...both(
    'POST',
    '/payments/{id}/refund',
    'Pay the money back with a transfer of its own, POST /v1/w3s/developer/transactions/transfer, to the fromAddresses of the payment.',
  ),
  ...all('/cards', cards),
  ...all('/paymentTokens', cards),
  ...both('GET', '/encryption/public', `There is no card data to encrypt. ${intents}`),
  ...all('/channels', cards),
  ...all('/chargebacks', 'A payment on chain cannot be charged back.'),
  ...both('ALL', '/mocks/cards/chargebacks', 'A payment on chain cannot be charged back.'),
  ...all('/settlements', settlements),
  ...all('/checkoutSessions', `There is no hosted checkout page. ${intents}`),
  ...both('GET', '/exchange/rates/{pair}', rates),
  ...both('GET', '/balances', balances),
  ...all('/businessAccount/banks/cbit', wires),
  { method: 'ALL', path: '/v1/wallets', instead: accounts },
  { method: 'ALL', path: '/v1/wallets/*', instead: accounts },
  ...all('/transfers', accountTransfers),
  { method: 'PUT', path: '/v1/w3s/developer/wallets/{id}/backfill', instead: backfill },
  { method: 'PUT', path: '/developer/wallets/{id}/backfill', instead: backfill },
]

import type { NotBuilt } from '#runtime/http/not-found'

/** Documented operations that this version does not have, neither with nor without their prefix. */
export const notBuilt: readonly NotBuilt[] = [
  // Wallets: users, their wallets, and operations of other kinds of wallets.
  'POST /v1/w3s/developer/sign/delegateAction',

  // Transfers from chain to chain.
  'POST /v2/quote/burn/usdc/{source}/{destination}',
  'POST /v2/quote/validate/usdc/{source}',
  'POST /v2/quote/cctpx/{tokenId}/{source}/{destination}',

  // The business account.
  'GET /v1/addressBook/vasps',
  'POST /v1/addressBook/recipients/{id}/verification/resend',
  'POST /v1/addressBook/recipients/{id}/verification/cancel',
  'GET /v1/businessAccount/wallets/addresses/vasps',
  'GET /v1/businessAccount/payouts',
  'GET /v1/externalEntities',
  'GET /v1/fees/redemption/dailyReports',
  'GET /v1/fees/redemption/net/dailyReports',
  'POST /v1/mocks/payments/pix',
]

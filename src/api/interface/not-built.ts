import type { NotBuilt } from '#runtime/http/not-found'

/** Documented operations that this version does not have, neither with nor without their prefix. */
export const notBuilt: readonly NotBuilt[] = [
  // Wallets: users, their wallets, and operations of other kinds of wallets.
  'POST /v1/w3s/user/transactions/contractDeployment',
  'POST /v1/w3s/transactions/contractDeployment/estimateFee',

  // Transfers from chain to chain.
  'POST /v2/quote/burn/usdc/{source}/{destination}',
  'POST /v2/quote/validate/usdc/{source}',
  'POST /v2/quote/cctpx/{tokenId}/{source}/{destination}',
  'GET /v2/cctpx/allowances',
  'GET /v1/stablecoinKits/quote',

  // Payments by x402, and batches.
  'GET /v1/x402/supported',
  'POST /v1/x402/verify',
  'POST /v1/x402/settle',
  'GET /v1/x402/transfers',
  'GET /v1/x402/transfers/{id}',
  'POST /v1/batch/submit',

  // Webhooks of addresses without a proof of them.
  'POST /v2/notifications/subscriptions/permissionless',
  'GET /v2/notifications/subscriptions/permissionless',
  'GET /v2/notifications/subscriptions/permissionless/{id}',
  'PATCH /v2/notifications/subscriptions/permissionless/{id}',
  'DELETE /v2/notifications/subscriptions/permissionless/{id}',

  // The business account.
  'GET /v1/addressBook/vasps',
  'POST /v1/addressBook/recipients/{id}/verification/resend',
  'POST /v1/addressBook/recipients/{id}/verification/cancel',
  'GET /v1/businessAccount/wallets/addresses/vasps',
  'GET /v1/businessAccount/payouts',
  'POST /v1/businessAccount/payouts',
  'GET /v1/businessAccount/payouts/{id}',
  'POST /v1/businessAccount/banks/wires',
  'GET /v1/businessAccount/banks/wires',
  'GET /v1/businessAccount/banks/wires/{id}',
  'GET /v1/businessAccount/banks/wires/{id}/instructions',
  'POST /v1/businessAccount/banks/pix',
  'GET /v1/businessAccount/banks/pix',
  'GET /v1/businessAccount/banks/pix/{id}',
  'GET /v1/businessAccount/banks/pix/{id}/instructions',
  'POST /v1/businessAccount/banks/cubix',
  'GET /v1/businessAccount/banks/cubix',
  'GET /v1/businessAccount/banks/cubix/{id}',
  'GET /v1/businessAccount/banks/cubix/{id}/instructions',
  'POST /v1/exchange/quotes',
  'POST /v1/exchange/trades',
  'GET /v1/exchange/trades',
  'GET /v1/exchange/trades/{id}',
  'POST /v1/exchange/stablefx/quotes',
  'POST /v1/exchange/stablefx/trades',
  'GET /v1/exchange/stablefx/trades',
  'GET /v1/exchange/stablefx/trades/{id}',
  'POST /v1/exchange/stablefx/signatures',
  'GET /v1/exchange/stablefx/signatures/presign/{id}',
  'POST /v1/exchange/stablefx/fund',
  'GET /v1/externalEntities',
  'GET /v1/fees/redemption/dailyReports',
  'GET /v1/fees/redemption/net/dailyReports',
  'POST /v1/mocks/payments/pix',
]

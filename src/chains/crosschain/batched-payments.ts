/** Name and version of the EIP-712 domain for which payers sign payments of unified balances, as published clients know it. */
export const batchedPaymentsDomain = { name: 'GatewayWalletBatched', version: '1' } as const

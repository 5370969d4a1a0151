/** Refusals of payments of unified balances, by the names that published clients know. */

export type UnifiedPaymentRefusal = { reason: UnifiedPaymentReason; message: string }

/** The meaning of each reason, as answers tell it. */
export const unifiedPaymentReasons = {
  unsupported_scheme: 'This server settles the scheme "exact".',
  unsupported_network: 'This server has no unified balance on the network: see /v1/x402/supported.',
  unsupported_asset: 'The asset is not the USDC of the network: see /v1/x402/supported.',
  unsupported_domain:
    'The payment is not signed for the wallet contract of this server: see extra in /v1/x402/supported.',
  address_mismatch: 'The payer authorized another payee than payTo.',
  amount_mismatch: 'The payer authorized another amount than the one required.',
  invalid_amount: 'The amount is zero.',
  self_transfer: 'Payer and payee are the same account.',
  invalid_signature:
    'The key of the payer did not make the signature. Payments of contracts are not settled in batches.',
  authorization_not_yet_valid: 'The authorization is not valid yet.',
  authorization_expired: 'The authorization is expired: ask the payer for another one.',
  authorization_validity_too_short:
    'The authorization expires before a batch can have it: ask the payer for one that is valid for ten minutes or longer.',
  insufficient_balance: 'The payer has less in its unified balance on the network than the amount.',
  nonce_already_used:
    'Another request was answered that this payment is accepted, or the payer used its nonce for another one: deliver nothing for it. If your server lost that answer, look for the transfer by its nonce.',
  screening_denied: 'Screening does not let this server accept the payment.',
} as const
type UnifiedPaymentReason = keyof typeof unifiedPaymentReasons

export const unifiedRefusal = (reason: UnifiedPaymentReason, detail?: string): UnifiedPaymentRefusal => ({
  reason,
  message:
    detail === undefined ? unifiedPaymentReasons[reason] : `${unifiedPaymentReasons[reason]} ${detail}`,
})

/** Refusals of payments by Permit2, by the names that clients of x402 know. */
export const permitReasons = {
  unsupported_payload_type:
    'The payment has neither an authorization nor a permit for the scheme, or is of the first version.',
  unsupported_asset: 'The asset is none that this server settles: see /supported.',
  invalid_upto_evm_network_mismatch: 'The payment is for another network than the one required.',
  invalid_permit2_spender: 'The payer permitted another spender than the contract of the scheme.',
  invalid_permit2_recipient_mismatch: 'The payer permitted another payee than payTo.',
  permit2_token_mismatch: 'The payer permitted another token than the asset.',
  permit2_amount_mismatch: 'The payer permitted another amount than the one required.',
  permit2_invalid_amount: 'The amount is zero.',
  permit2_deadline_expired:
    'The permit expires before a block has it, or after more than a day: ask the payer for another one.',
  permit2_not_yet_valid: 'The permit is not valid yet.',
  invalid_permit2_signature: 'Neither the key nor the contract of the payer made the signature.',
  permit2_invalid_nonce:
    'The permit was used or cancelled: look for its transaction before you ask for another payment.',
  permit2_allowance_required:
    'The payer has not approved Permit2 for the amount: it approves the contract once, or signs the extension eip2612GasSponsoring.',
  permit2_insufficient_balance: 'The payer has less of the asset than the amount.',
  permit2_proxy_not_deployed: 'The network does not have the contract of the scheme.',
  permit2_simulation_failed: 'The contract of the scheme refuses the payment.',
  permit2_2612_amount_mismatch: 'The payer approved Permit2 for another amount than it permitted.',
  eip2612_from_mismatch: 'Another account than the payer approved Permit2.',
  eip2612_asset_mismatch: 'The payer approved Permit2 for another token than the asset.',
  eip2612_spender_not_permit2: 'The payer approved another spender than Permit2.',
  eip2612_deadline_expired: 'The approval expires before a block has it.',
  upto_facilitator_mismatch:
    'The payer signed for another facilitator: the address is in the kind of /supported, as extra.facilitatorAddress.',
  invalid_upto_evm_payload_settlement_exceeds_amount: 'The amount is more than the payer signed.',
  invalid_upto_evm_transaction_failed: 'The transaction of the payment failed, and moved nothing.',
} as const

/** Reverts of the contracts that a payment by Permit2 calls. */
export const permitReverts: readonly [RegExp, keyof typeof permitReasons][] = [
  [/\bInvalidNonce\b/, 'permit2_invalid_nonce'],
  [/\bSignatureExpired\b/, 'permit2_deadline_expired'],
  [/\bPaymentTooEarly\b/, 'permit2_not_yet_valid'],
  [/\bInvalid(Signer|Signature|SignatureLength|ContractSignature)\b/, 'invalid_permit2_signature'],
  [/\bPermit2612AmountMismatch\b/, 'permit2_2612_amount_mismatch'],
  [/\bUnauthorizedFacilitator\b/, 'upto_facilitator_mismatch'],
  [/\bAmountExceedsPermitted\b/, 'invalid_upto_evm_payload_settlement_exceeds_amount'],
  [/\bInvalidAmount\b/, 'permit2_invalid_amount'],
]

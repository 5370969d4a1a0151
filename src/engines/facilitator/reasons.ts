/** Refusals of payments, by the names that clients of x402 know. */
import { permitReasons } from './permit-reasons.ts'

export type PaymentRefusal = { reason: RefusedReason; message: string }

/** The meaning of each reason, as answers tell it. */
export const refusedReasons = {
  unsupported_scheme: 'This server settles the schemes "exact" and, in the second version, "upto".',
  unsupported_network: 'This server has no connection to the network, or settles no signed payments on it.',
  invalid_exact_evm_network_mismatch: 'The payment is for another network than the one required.',
  invalid_exact_evm_eip3009_not_supported: 'The asset is none that this server settles: see /supported.',
  invalid_exact_evm_recipient_mismatch: 'The payer authorized another payee than payTo.',
  invalid_exact_evm_authorization_value: 'The amount is zero.',
  invalid_exact_evm_payload_authorization_value_mismatch:
    'The payer authorized another amount than the one required.',
  invalid_exact_evm_payload_authorization_valid_before:
    'The authorization expires before a block has it, or after more than a day: ask the payer for another one.',
  invalid_exact_evm_payload_authorization_valid_after: 'The authorization is not valid yet.',
  invalid_exact_evm_signature: 'Neither the key nor the contract of the payer made the signature.',
  invalid_exact_evm_nonce_already_used:
    'The authorization was used or cancelled: look for its transaction before you ask for another payment.',
  invalid_exact_evm_insufficient_balance: 'The payer has less of the asset than the amount.',
  invalid_exact_evm_transaction_simulation_failed: 'The token refuses the payment.',
  duplicate_settlement:
    'Another request was answered that this payment is settled: deliver nothing for it again. If your server lost that answer, ask for the status of the payment; do not ask its payer for another one.',
  payment_identifier_conflict:
    'Another payment was taken for this payment-identifier: ask for the status of that one. For something else, the payer needs another identifier.',
  policy_denied:
    'The policy of this server does not let the API key settle the payment: have it changed by bezant policy set.',
  policy_limit_reached:
    'A limit of this server for a period has no room for the payment: ask again later, or have it raised by bezant policy set.',
  eip6492_factory_not_allowed:
    'The call in the signature is not the one by which this server creates the account of the payer: deploy the account, and sign again.',
  smart_wallet_deployment_failed: 'The account of the payer is not deployed, and a payment cannot do it.',
  screening_denied: 'Screening does not let this server settle the payment.',
  invalid_exact_evm_transaction_failed: 'The transaction of the payment failed, and moved nothing.',
  ...permitReasons,
} as const
export type RefusedReason = keyof typeof refusedReasons

export const refusedFor = (reason: RefusedReason, detail?: string): PaymentRefusal => ({
  reason,
  message: detail === undefined ? refusedReasons[reason] : `${refusedReasons[reason]} ${detail}`,
})

/** Texts with which the contracts of stablecoins revert. */
const reverts: readonly [RegExp, RefusedReason][] = [
  [/used or canceled/i, 'invalid_exact_evm_nonce_already_used'],
  [/authorization is expired/i, 'invalid_exact_evm_payload_authorization_valid_before'],
  [/not yet valid/i, 'invalid_exact_evm_payload_authorization_valid_after'],
  [/exceeds balance/i, 'invalid_exact_evm_insufficient_balance'],
  [/invalid signature/i, 'invalid_exact_evm_signature'],
]

/** The refusal that a revert means. */
export const refusalOfRevert = (
  text: string,
  otherwise: RefusedReason = 'invalid_exact_evm_transaction_simulation_failed',
): PaymentRefusal => {
  const reason = reverts.find(([pattern]) => pattern.test(text))?.[1] ?? otherwise
  return refusedFor(reason, `The token says: ${text.slice(0, 300)}`)
}

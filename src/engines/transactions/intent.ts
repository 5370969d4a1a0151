import type { Call } from '#chains/facets/payments'
import { hexOf } from '#lib/hex'

/**
 * The bytes that a grant is bound to: the customer's request without nonce and fee, which the engine chooses. The signer must
 * present the same bytes, so a changed row is not signed.
 */
export const intentBytes = (intent: {
  blockchain: string
  /** Null where the data creates a contract. */
  callTo: string | null
  callValue: bigint
  callData: Buffer
}): Buffer =>
  Buffer.from(
    JSON.stringify([
      1,
      intent.blockchain,
      intent.callTo,
      intent.callValue.toString(),
      intent.callData.toString('hex'),
    ]),
  )

/** The call of a stored transaction. */
export const callOf = (row: { callTo: string | null; callValue: bigint; callData: Buffer }): Call => ({
  to: row.callTo ?? undefined,
  valueAtomic: row.callValue,
  data: hexOf(row.callData),
})

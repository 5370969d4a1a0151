/**
 * The bytes that a grant is bound to: the customer's request without nonce and fee, which the engine chooses. The signer must
 * present the same bytes, so a changed row is not signed.
 */
export const intentBytes = (intent: {
  blockchain: string
  callTo: string
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

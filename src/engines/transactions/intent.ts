/**
 * The bytes that a grant is bound to: what the customer asked for, without nonce and fee, which are the engine's.
 * Whoever signs later must show the same bytes, so a changed row is not signed.
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

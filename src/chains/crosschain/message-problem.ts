/** The ways in which bytes or values are no cross-chain message. */
export type MessageFlaw =
  | 'not-hex'
  | 'too-short'
  | 'too-long'
  | 'wrong-version'
  | 'not-uint32'
  | 'not-uint256'
  | 'not-bytes32'
  | 'not-an-address'
  | 'nonce-taken'
  | 'nonce-zero'
  | 'fee-too-high'
  | 'other-bytes-change'

/** A message that cannot be read, written or filled. */
export class MessageProblem extends Error {
  readonly flaw: MessageFlaw

  constructor(flaw: MessageFlaw, text: string) {
    super(text)
    this.flaw = flaw
  }
}

type TransferFault =
  /** Bytes end before the field, or before the element that a length or a count announces. */
  | 'too-short'
  | 'trailing-bytes'
  | 'wrong-magic'
  | 'wrong-version'
  /** The length of hookData is not that of the bytes behind it. */
  | 'wrong-hook-data-length'
  | 'uint32-overflow'
  | 'uint256-overflow'
  /** A field is not 32 bytes in hexadecimal, or hookData is not hexadecimal. */
  | 'not-hex'

/** The refusal to encode or decode a transfer; `location` names the field, as in `intents[1].spec.version`. */
export class MalformedTransfer extends Error {
  readonly fault: TransferFault
  readonly location: string
  readonly reason: string

  constructor(fault: TransferFault, location: string, reason: string) {
    super(`${location} ${reason}`)
    this.fault = fault
    this.location = location
    this.reason = reason
  }
}

/** The `error_code`s of answers that are no success, each with the status that nodes send. */
export const errorStatuses = {
  invalid_input: 400,
  vm_error: 400,
  invalid_transaction_update: 400,
  web_framework_error: 404,
  account_not_found: 404,
  resource_not_found: 404,
  module_not_found: 404,
  transaction_not_found: 404,
  version_not_found: 404,
  block_not_found: 404,
  version_pruned: 410,
  block_pruned: 410,
  mempool_is_full: 507,
  internal_error: 500,
} as const

export type NodeErrorCode = keyof typeof errorStatuses

/** The codes by which a node refuses a transaction before it is in a block. */
const refusalCodes = {
  INVALID_SIGNATURE: 1,
  INVALID_AUTH_KEY: 2,
  SEQUENCE_NUMBER_TOO_OLD: 3,
  SEQUENCE_NUMBER_TOO_NEW: 4,
  INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE: 5,
  TRANSACTION_EXPIRED: 6,
  EXCEEDED_MAX_TRANSACTION_SIZE: 10,
  MAX_GAS_UNITS_EXCEEDS_MAX_GAS_UNITS_BOUND: 13,
  MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS: 14,
  GAS_UNIT_PRICE_BELOW_MIN_BOUND: 15,
  GAS_UNIT_PRICE_ABOVE_MAX_BOUND: 16,
  BAD_CHAIN_ID: 23,
  SEQUENCE_NUMBER_TOO_BIG: 24,
} as const

export type PrologueRefusal = keyof typeof refusalCodes

/** An answer of the node that is no success. */
export class NodeError extends Error {
  readonly code: NodeErrorCode
  readonly vmErrorCode: number | null

  constructor(code: NodeErrorCode, message: string, vmErrorCode: number | null = null) {
    super(message)
    this.code = code
    this.vmErrorCode = vmErrorCode
  }
}

export const refused = (refusal: PrologueRefusal): NodeError =>
  new NodeError('vm_error', `Invalid transaction: Type: Validation Code: ${refusal}`, refusalCodes[refusal])

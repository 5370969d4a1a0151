/** Codes of JSON-RPC that nodes of Solana refuse requests with. */
export const refusalCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  blockCleanedUp: -32001,
  preflight: -32002,
  signature: -32003,
  blockNotAvailable: -32004,
  unhealthy: -32005,
  slotSkipped: -32007,
  longTermSlotSkipped: -32009,
  noHistory: -32011,
  statusNotAvailable: -32014,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
  /** Of servers before nodes. */
  tooManyRequests: -32429,
} as const

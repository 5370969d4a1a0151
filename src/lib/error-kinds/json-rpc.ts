/** Errors of the JSON-RPC endpoints, which answer them with the HTTP status of a success. */
export const jsonRpcErrorKinds = {
  rpcBodyNotJson: { code: -32700, status: 200, text: 'The body is not readable JSON.' },
  rpcRequestInvalid: { code: -32600, status: 200, text: 'The body is not a JSON-RPC 2.0 request.' },
  rpcMethodUnknown: { code: -32601, status: 200, text: 'The endpoint does not have this method.' },
  rpcParamsInvalid: { code: -32602, status: 200, text: 'Invalid params.' },
  rpcChainUnknown: { code: -32001, status: 200, text: 'The path names no chain for this key.' },
  rpcNodeUnavailable: {
    code: -32002,
    status: 200,
    text: 'The node of the chain does not answer: try again in a moment.',
  },
  rpcPasskeysOff: {
    code: -32004,
    status: 200,
    text: 'This server lets no page use passkeys: its operator names the pages in BEZANT_PASSKEY_ORIGINS.',
  },
  rpcReadsExceeded: {
    code: -32005,
    status: 200,
    text: 'Too many requests of this address, or of this key, wait for the node: try again in a moment.',
  },
  rpcRowsExceeded: {
    code: -32005,
    status: 200,
    text: 'This address, or all addresses with this key, made too many wallets, mappings or passkeys in a short time: try again in a minute.',
  },
  rpcOperationDenied: { code: -32006, status: 200, text: 'Screening denies the operation.' },
  rpcEntityFrozen: {
    code: -32007,
    status: 200,
    text: 'An operator has frozen this entity: nothing is signed for it until it is released.',
  },
  rpcContractsUnknown: {
    code: -32008,
    status: 200,
    text: 'The contracts of modular wallets on this chain are not known to this server, and it uses none of them: its operator compares and pins their code.',
  },
  rpcOperationRejected: { code: -32500, status: 200, text: 'The EntryPoint rejects the operation.' },
  rpcNotSponsored: {
    code: -32501,
    status: 200,
    text: 'This server bundles operations that its own paymaster pays for, and those that pay in USDC through the paymaster that takes it on this chain: call pm_getPaymasterData and change nothing but the signature after it, or name that paymaster.',
  },
  rpcOutOfTimeRange: {
    code: -32503,
    status: 200,
    text: 'The time in which the operation is valid has ended, or ends too soon: ask for its sponsorship again.',
  },
  rpcSponsorshipExceeded: {
    code: -32504,
    status: 200,
    text: 'The gas that is paid for within a day is taken: try later.',
  },
  rpcSignatureInvalid: { code: -32507, status: 200, text: 'The signature of the operation is not valid.' },
  rpcExecutionReverted: { code: -32521, status: 200, text: 'The call of the operation reverts.' },
} as const

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
    text: 'Too many reads of this entity wait for the node: try again in a moment.',
  },
} as const

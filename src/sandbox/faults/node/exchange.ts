/** One JSON-RPC call. Calls and answers of tests have any shape. */
// biome-ignore lint/suspicious/noExplicitAny: params of every method are different
export type ProxiedCall = { jsonrpc?: string; id: unknown; method: string; params: readonly any[] }
export type ProxiedAnswer = {
  jsonrpc: '2.0'
  id: unknown
  // biome-ignore lint/suspicious/noExplicitAny: results of every method are different
  result?: any
  error?: { code: number; message: string; data?: unknown }
}

/** The reply to one HTTP request. `reset` closes the connection, `hang` keeps it open without an answer. */
export type ProxiedReply =
  | 'reset'
  | 'hang'
  | { answers: readonly ProxiedAnswer[] }
  | { status: number; headers?: Record<string, string>; body: string; cutAfter?: number }

export type Exchange = {
  requests: readonly ProxiedCall[]
  /** Whether the client sent a batch, and expects one. */
  batch: boolean
  /** Resolves when the connection ends, such as that of a client that gives up. */
  closed: Promise<void>
  /** Forwards to the node behind; the answers come in the order of the requests. Throws when the node does not answer. */
  forward(requests?: readonly ProxiedCall[]): Promise<ProxiedAnswer[]>
}

export const refusalOf = (request: ProxiedCall, message: string, code = -32000): ProxiedAnswer => ({
  jsonrpc: '2.0',
  id: request.id,
  error: { code, message },
})

export const resultFor = (request: ProxiedCall, result: unknown): ProxiedAnswer => ({
  jsonrpc: '2.0',
  id: request.id,
  result,
})

/** The effect of a JSON-RPC method on a chain, as far as persistence is concerned. */
type RequestKind =
  /** Changes nothing. */
  | 'read'
  /** A signed transaction: its bytes suffice to send it again. */
  | 'raw'
  /** A transaction that the node signs or accepts unsigned; only the answer identifies it. */
  | 'unsigned'
  /** Changes state or settings; its order among the transactions matters. */
  | 'admin'
  /** Replaces the chain or the pool by contents that only the node knows. */
  | 'replacement'

export type RpcRequest = { id?: unknown; method: string; params?: unknown }

const markers = ['_send', 'evm_', 'anvil_', 'hardhat_', 'tenderly_', '\\u'].map((text) => Buffer.from(text))
const reading = /^(anvil|hardhat|evm)_(get|dumpState$|nodeInfo$|metadata$|version$)/
const replacing =
  /^(anvil|hardhat|evm)_(revert|reorg|rollback|loadState|reset|dropTransaction|dropAllTransactions|removePoolTransactions)$/
const changing = /^(anvil|hardhat|evm|tenderly)_/

/** Scans the bytes for writing methods: false only when no method in them can change the chain. */
export function mayChange(body: Buffer): boolean {
  return markers.some((marker) => body.includes(marker))
}

export function requestKindOf(method: string): RequestKind {
  if (/^eth_sendRawTransaction(Sync)?$/.test(method)) return 'raw'
  if (/^(eth|wallet)_send/.test(method)) return 'unsigned'
  if (!changing.test(method) || reading.test(method)) return 'read'
  return replacing.test(method) ? 'replacement' : 'admin'
}

/** Whether the node answers only once a block contains the transaction: a request that mines must not wait for it. */
export const waitsForBlock = (method: string) => method.endsWith('Sync')

/** Returns the requests of a body, one or a batch, or undefined when it is no JSON (the node then reports the error). */
export function requestsIn(body: Buffer): RpcRequest[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    return undefined
  }
  const entries = Array.isArray(value) ? value : [value]
  return entries.filter(
    (entry): entry is RpcRequest =>
      typeof entry === 'object' && entry !== null && typeof (entry as RpcRequest).method === 'string',
  )
}

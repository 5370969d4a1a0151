/** What a JSON-RPC method does to a chain, as far as keeping it is concerned. */
export type RequestKind =
  /** Changes nothing. */
  | 'read'
  /** A signed transaction: the bytes are all that is needed to send it again. */
  | 'raw'
  /** A transaction the node signs or takes on faith; which one it became is known from the answer. */
  | 'unsigned'
  /** Changes state or settings, in an order that matters to the transactions around it. */
  | 'admin'
  /** Replaces the chain or the pool by something only the node itself remembers. */
  | 'wholesale'

export type RpcRequest = { id?: unknown; method: string; params?: unknown }

const markers = ['_send', 'evm_', 'anvil_', 'hardhat_', 'tenderly_', '\\u'].map((text) => Buffer.from(text))
const reading = /^(anvil|hardhat|evm)_(get|dumpState$|nodeInfo$|metadata$|version$)/
const replacing =
  /^(anvil|hardhat|evm)_(revert|reorg|rollback|loadState|reset|dropTransaction|dropAllTransactions|removePoolTransactions)$/
const changing = /^(anvil|hardhat|evm|tenderly)_/

/** A quick look at the bytes: false only when no method in them can change the chain. */
export function mayChange(body: Buffer): boolean {
  return markers.some((marker) => body.includes(marker))
}

export function kindOf(method: string): RequestKind {
  if (/^eth_sendRawTransaction(Sync)?$/.test(method)) return 'raw'
  if (/^(eth|wallet)_send/.test(method)) return 'unsigned'
  if (!changing.test(method) || reading.test(method)) return 'read'
  return replacing.test(method) ? 'wholesale' : 'admin'
}

/** Answered only when a block holds the transaction: whoever mines that block must not wait for the answer. */
export const waitsForBlock = (method: string) => method.endsWith('Sync')

/** The requests of a body, one or a batch, or undefined when it is no JSON-RPC (the node will say so). */
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

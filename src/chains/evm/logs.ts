/**
 * Reads the logs of a block without its receipts: a fraction of the work for a local node, which is trusted.
 * They are checked as far as possible; a missing log among several cannot be detected.
 */
import type { ChainTransaction } from '../chain.ts'
import { bloomMayHold } from './bloom.ts'
import { address, hash, integer } from './quantities.ts'
import { type Header, type ReceiptLog, readBlockReceipts, type Sought } from './receipts.ts'
import { type Rpc, RpcUnreachable } from './rpc.ts'

export async function readLogs(
  rpc: Rpc,
  header: Header,
  transactions: readonly ChainTransaction[],
  sought: Sought,
): Promise<ReceiptLog[]> {
  const { emitters, topic } = sought
  if (emitters.length === 0) return []
  const given = await rpc.call<Record<string, unknown>[]>('eth_getLogs', [
    { blockHash: header.hash, address: emitters, topics: [topic] },
  ])
  if (!Array.isArray(given)) throw new RpcUnreachable("the node's logs are not a list")
  // A node that indexes logs late answers "none" for a block it has; the filter in the header shows otherwise.
  if (given.length === 0 && emitters.some((emitter) => bloomMayHold(header.logsBloom, emitter, topic)))
    return (await readBlockReceipts(rpc, header, transactions, sought)).logs
  let last = -1
  return given.map((raw) => {
    const log = logOf(raw, header, transactions)
    if (log.logIndex <= last || log.topics[0] !== topic || !emitters.includes(log.address))
      throw new RpcUnreachable(`the logs of block ${header.hash} do not belong to it`)
    last = log.logIndex
    return log
  })
}

function logOf(
  raw: Record<string, unknown>,
  header: Header,
  transactions: readonly ChainTransaction[],
): ReceiptLog {
  const txHash = hash(raw?.['transactionHash'], 'log transaction')
  const fits =
    hash(raw['blockHash'], 'log block') === header.hash &&
    integer(raw['blockNumber'], 'log block number') === header.number &&
    transactions[integer(raw['transactionIndex'], 'log transaction index')]?.hash === txHash &&
    raw['removed'] !== true &&
    Array.isArray(raw['topics'])
  if (!fits) throw new RpcUnreachable(`the logs of block ${header.hash} do not belong to it`)
  return {
    address: address(raw['address'], 'log address'),
    topics: (raw['topics'] as unknown[]).map((item) => hash(item, 'topic')),
    data: raw['data'],
    logIndex: integer(raw['logIndex'], 'log index'),
    txHash,
  }
}

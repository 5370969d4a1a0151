/**
 * Reads the logs of a block without its receipts: a fraction of the work for a local node, which is trusted.
 * They are numbered without a gap and account for the filter in the header.
 */
import type { ChainLog, ChainTransaction } from '../../facets/blocks.ts'
import { hash, readInteger } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc } from '../rpc/rpc.ts'
import { bloomOf, bloomValue } from './bloom.ts'
import { type BlockReceipts, type Header, logFrom, readBlockReceipts, type Sought } from './receipts.ts'

/** The logs of a block, with the receipts if those were read for them. */
type LogsRead = { byHash: BlockReceipts['byHash'] | undefined; logs: ChainLog[] }

export async function readLogs(
  rpc: Rpc,
  header: Header,
  transactions: readonly ChainTransaction[],
  sought: Sought,
): Promise<LogsRead> {
  const filter = bloomValue(header.logsBloom)
  if (filter === 0n) return { byHash: undefined, logs: [] }
  const given = await rpc.call<Record<string, unknown>[]>('eth_getLogs', [{ blockHash: header.hash }])
  if (!Array.isArray(given)) throw new NodeUnreachable("the node's logs are not a list")
  // A node that indexes logs late answers "none" for a block it has; the filter in the header shows otherwise.
  if (given.length === 0 && filter !== undefined) return readBlockReceipts(rpc, header, transactions, sought)
  const logs = given.map((raw, place) => logOf(raw, place, header, transactions))
  if (filter !== undefined && bloomOf(logs) !== filter) throw foreign(header)
  return { byHash: undefined, logs }
}

const foreign = ({ hash: blockHash }: Header) =>
  new NodeUnreachable(`the logs of block ${blockHash} do not belong to it`)

function logOf(
  raw: Record<string, unknown>,
  place: number,
  header: Header,
  transactions: readonly ChainTransaction[],
): ChainLog {
  const txHash = hash(raw?.['transactionHash'], 'log transaction')
  const fits =
    hash(raw['blockHash'], 'log block') === header.hash &&
    readInteger(raw['blockNumber'], 'log block number') === header.number &&
    transactions[readInteger(raw['transactionIndex'], 'log transaction index')]?.hash === txHash &&
    readInteger(raw['logIndex'], 'log index') === place &&
    raw['removed'] !== true
  if (!fits) throw foreign(header)
  return logFrom(raw, place, txHash)
}

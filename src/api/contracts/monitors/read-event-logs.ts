import { canonicalAddress } from '#chains/addresses/canonical'
import type { Blockchain } from '#chains/blockchains'
import type { Ctx } from '#engines/ctx'
import { type EventLog, eventLogsPage } from '#engines/indexer/events/index'
import type { Hex } from '#lib/hex'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { dataOf } from './event-log-data.ts'

type EventLogsQuery = { contractAddress?: string; blockchain?: Blockchain }

export async function getEventLogs(
  ctx: Ctx,
  { contractAddress, blockchain }: EventLogsQuery,
  page: PageQuery,
): Promise<ListResult> {
  const filters = { contractAddress: contractAddress && canonicalAddress(contractAddress), blockchain }
  const found = await eventLogsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map((row) => showEventLog(ctx, row)) }
}

const showEventLog = (ctx: Ctx, row: EventLog) => ({
  id: row.id,
  blockHash: row.blockHash,
  blockHeight: row.blockHeight,
  blockchain: row.blockchain,
  contractAddress: row.contractAddress,
  ...dataOf(row),
  eventName: row.eventName,
  eventSignature: row.eventSignature,
  eventSignatureHash: row.eventSignatureHash,
  ...valuesOf(ctx, row),
  logIndex: String(row.logIndex),
  topics: row.topics,
  txHash: row.txHash,
  userOpHash: '',
  firstConfirmDate: row.blockTime,
  createDate: row.createDate,
})

/** The decoded parameters; nothing where the log does not fit them: a contract may write any log. */
function valuesOf({ chains }: Ctx, { blockchain, parameters, topics, data }: EventLog) {
  if (!parameters || !data) return {}
  const hex: Hex = `0x${data.toString('hex')}`
  const values = chains.find(blockchain)?.contracts?.decodeLog(parameters, topics, hex)
  if (!values) return {}
  const shown = parameters.map(({ name, type, indexed = false }, index) => {
    return { name, type, indexed, value: values[index] }
  })
  return { values: shown }
}

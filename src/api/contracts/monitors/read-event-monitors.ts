import { canonicalAddress } from '#chains/addresses/canonical'
import type { Blockchain } from '#chains/blockchains'
import { hasFacet } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import { type EventMonitor, eventMonitorsPage, findEventMonitor } from '#engines/indexer/events/index'
import { notFound } from '#lib/errors'
import { isHex } from '#lib/hex'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { readOrRefuse } from '../contract-request.ts'
import { headsOfChain } from './monitor-progress.ts'
import { showEventMonitor } from './show-event-monitor.ts'

type EventMonitorsQuery = { contractAddress?: string; blockchain?: Blockchain; eventSignature?: string }

export async function getEventMonitors(
  ctx: Ctx,
  { contractAddress, blockchain, eventSignature }: EventMonitorsQuery,
  page: PageQuery,
): Promise<ListResult> {
  const filters = {
    contractAddress: contractAddress && canonicalAddress(contractAddress),
    blockchain,
    eventSignatureHash: eventSignature && hashOf(ctx, eventSignature),
  }
  const found = await eventMonitorsPage(ctx.db, ctx.entity.id, filters, page)
  const blockchains = [...new Set(found.rows.map((row) => row.blockchain))]
  const heads = new Map(
    await Promise.all(blockchains.map(async (name) => [name, await headsOfChain(ctx, name)] as const)),
  )
  return { found, items: found.rows.map((row) => showEventMonitor(row, heads.get(row.blockchain)!)) }
}

/** The hash of a signature in either spelling, or the hash itself. */
function hashOf(ctx: Ctx, eventSignature: string): string {
  if (isHex(eventSignature, 32)) return eventSignature.toLowerCase()
  const chain = ctx.chains.list().find((each) => hasFacet(each, 'contracts'))
  if (!chain) return eventSignature
  return readOrRefuse(() => chain.contracts.readEventSignature(eventSignature), 'eventSignatureUnknown').hash
}

export async function requireEventMonitor(ctx: Ctx, id: string): Promise<EventMonitor> {
  const row = await findEventMonitor(ctx.db, ctx.entity.id, id)
  if (row) return row
  throw notFound('event monitor', id, 'eventMonitorNotFound')
}

export async function getEventMonitor(ctx: Ctx, id: string) {
  const monitor = await requireEventMonitor(ctx, id)
  return { eventMonitor: showEventMonitor(monitor, await headsOfChain(ctx, monitor.blockchain)) }
}

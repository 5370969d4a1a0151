import type { Ctx } from '#engines/ctx'
import { deleteEventMonitor, findEventMonitor, setEnabled } from '#engines/indexer/events/index'
import { notFound } from '#lib/errors'
import { recordChanges } from '#runtime/record/store'
import { findContractAt } from '../store.ts'
import { requireUsable } from './create-event-monitor.ts'
import { type Heads, headsOfChain } from './monitor-progress.ts'
import { requireEventMonitor } from './read-event-monitors.ts'
import { showEventMonitor } from './show-event-monitor.ts'

/** Asks a node for its newest block, so it runs outside a `tx`. */
export async function headsOfMonitor(ctx: Ctx, id: string): Promise<Heads> {
  const { blockchain } = await requireEventMonitor(ctx, id)
  return headsOfChain(ctx, blockchain)
}

/** Enables or disables a monitor. Logs of the time in which it was disabled are not recorded. */
export async function updateEventMonitor(ctx: Ctx, id: string, isEnabled: boolean, heads: Heads) {
  const { db, entity, receivedMs } = ctx
  const { blockchain, contractAddress } = await requireEventMonitor(ctx, id)
  const contract = await findContractAt(db, entity.id, blockchain, contractAddress)
  if (isEnabled && contract) requireUsable(contract, contractAddress)
  if (!(await setEnabled(db, receivedMs, entity.id, id, isEnabled)))
    throw notFound('event monitor', id, 'eventMonitorNotFound')
  await record(ctx, 'eventMonitor.updated', id)
  return { eventMonitor: showEventMonitor((await findEventMonitor(db, entity.id, id))!, heads) }
}

/** Deletes a monitor. Its logs stay listed. */
export async function removeEventMonitor(ctx: Ctx, id: string): Promise<void> {
  if (!(await deleteEventMonitor(ctx.db, ctx.receivedMs, ctx.entity.id, id)))
    throw notFound('event monitor', id, 'eventMonitorNotFound')
  await record(ctx, 'eventMonitor.deleted', id)
}

const record = ({ db, entity, actor, requestId, receivedMs }: Ctx, type: string, resourceId: string) =>
  recordChanges(db, receivedMs, [{ entityId: entity.id, actor, requestId, type, resourceId }])

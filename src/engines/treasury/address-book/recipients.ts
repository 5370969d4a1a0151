import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import type { RequestOrigin } from '../types.ts'
import {
  announceReview,
  insertRecipient,
  lockRecipient,
  markRecipientDeleted,
  type Recipient,
  type RecipientMetadata,
  updateRecipient,
} from './store/recipients.ts'

type NewRecipient = RequestOrigin &
  RecipientMetadata &
  Pick<Recipient, 'chain' | 'address' | 'addressTag'> & {
    /** Hold before payouts may be sent to it; 0 for none. */
    holdMs: number
  }

/** Adds a recipient to the address book for review. The same address may be in it any number of times. */
export async function addRecipient(ctx: EngineCtx, input: NewRecipient): Promise<Recipient> {
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const { entityId, chain, address, addressTag, nickname, email, bns, holdMs } = input
  const recipient: Recipient = {
    entityId,
    id: newId(nowMs),
    chain,
    address,
    addressTag,
    nickname,
    email,
    bns,
    status: 'pending',
    holdUntil: holdMs > 0 ? formatInstant(nowMs + holdMs) : null,
    createDate,
    updateDate: createDate,
  }
  await insertRecipient(ctx.db, recipient)
  await announceReview(ctx.db)
  await record(ctx.db, nowMs, input, recipient.id, [
    { type: 'recipient.created', data: { chain, address } },
    { type: 'addressBookRecipient.pending' },
  ])
  return recipient
}

/**
 * Changes a recipient's metadata and reviews it again, unless its status is final. A hold continues unchanged. Undefined when
 * it is not in the address book.
 */
export async function applyRecipientChanges(
  ctx: EngineCtx,
  { id, metadata, ...by }: RequestOrigin & { id: string; metadata: Partial<RecipientMetadata> },
): Promise<Recipient | undefined> {
  const found = await lockRecipient(ctx.db, by.entityId, id, 'update')
  if (!found) return undefined
  const nowMs = ctx.clock.nowMs()
  const isFinal = found.status === 'denied' || found.status === 'failed'
  const status = isFinal ? found.status : 'pending'
  const updateDate = formatInstant(nowMs)
  const changed = await updateRecipient(ctx.db, { ...found, ...metadata, status, updateDate })
  if (!isFinal) await announceReview(ctx.db)
  await record(ctx.db, nowMs, by, id, [
    { type: 'recipient.updated' },
    ...(isFinal ? [] : [{ type: 'addressBookRecipient.pending' }]),
  ])
  return changed
}

/** Removes a recipient from the address book; payouts in progress to it continue. False when it is not in the book. */
export async function removeRecipient(
  ctx: EngineCtx,
  { id, ...by }: RequestOrigin & { id: string },
): Promise<boolean> {
  const nowMs = ctx.clock.nowMs()
  const removed = await markRecipientDeleted(ctx.db, { entityId: by.entityId, id, at: formatInstant(nowMs) })
  if (removed) await record(ctx.db, nowMs, by, id, [{ type: 'recipient.deleted' }])
  return removed
}

type Happened = { type: string; data?: Record<string, unknown> }

const record = (
  tx: Db,
  nowMs: number,
  by: RequestOrigin,
  resourceId: string,
  happened: readonly Happened[],
) =>
  recordChanges(
    tx,
    nowMs,
    happened.map((what) => ({ ...by, resourceId, ...what })),
  )

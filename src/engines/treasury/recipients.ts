import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import {
  announceReview,
  deleteRecipient,
  insertRecipient,
  lockRecipient,
  type Recipient,
  type RecipientMetadata,
  updateRecipient,
} from './store/recipients.ts'

/** Who asks, for the trail. */
export type Asker = { entityId: string; actor: string; requestId: string }

export type NewRecipient = Asker &
  RecipientMetadata &
  Pick<Recipient, 'chain' | 'address' | 'addressTag'> & {
    /** How long nothing may be paid to it; 0 where nothing is held back. */
    holdMs: number
  }

/** Writes a recipient into the book, to be reviewed. The same address may stand there any number of times. */
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
 * Changes what is noted about a recipient; it is reviewed again, unless its status is for good. A hold goes on as it was.
 * Undefined when it is not in the book.
 */
export async function changeRecipient(
  ctx: EngineCtx,
  { id, metadata, ...by }: Asker & { id: string; metadata: Partial<RecipientMetadata> },
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

/** Takes a recipient out of the book; what is on its way to it goes on. False when it is not in the book. */
export async function removeRecipient(
  ctx: EngineCtx,
  { id, ...by }: Asker & { id: string },
): Promise<boolean> {
  const nowMs = ctx.clock.nowMs()
  const removed = await deleteRecipient(ctx.db, { entityId: by.entityId, id, at: formatInstant(nowMs) })
  if (removed) await record(ctx.db, nowMs, by, id, [{ type: 'recipient.deleted' }])
  return removed
}

type Happened = { type: string; data?: Record<string, unknown> }

const record = (tx: Db, nowMs: number, by: Asker, resourceId: string, happened: readonly Happened[]) =>
  recordChanges(
    tx,
    nowMs,
    happened.map((what) => ({ ...by, resourceId, ...what })),
  )

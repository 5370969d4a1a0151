import type { EngineCtx } from '#engines/ctx'
import { ApiError, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import type { RequestOrigin } from '../types.ts'
import {
  deleteRecipientAddress,
  insertRecipientAddress,
  lockRecipientAddress,
  type RecipientAddress,
  type RecipientAddressFacts,
} from './store/recipient-addresses.ts'
import { announceReview } from './store/recipients.ts'

type NewRecipientAddress = RequestOrigin &
  Pick<RecipientAddress, 'chain' | 'address' | 'addressTag' | 'currency' | 'description'> &
  Omit<RecipientAddressFacts, 'holdUntil'> & {
    /** Hold before coins may be sent to it; 0 for none. */
    holdMs: number
  }

/** Stores a withdrawal address, which the workers then verify. Throws when it is stored already. */
export async function addRecipientAddress(
  ctx: EngineCtx,
  { actor, requestId, holdMs, ...given }: NewRecipientAddress,
): Promise<RecipientAddress> {
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const address = {
    ...given,
    id: newId(nowMs),
    status: 'pending_verification' as const,
    holdUntil: holdMs > 0 ? formatInstant(nowMs + holdMs) : null,
    createDate,
    updateDate: createDate,
  }
  if (!(await insertRecipientAddress(ctx.db, address))) throw new ApiError('recipientAddressExists')
  await announceReview(ctx.db)
  const by = { entityId: given.entityId, actor, requestId, resourceId: address.id }
  const { chain, currency } = given
  await recordChanges(ctx.db, nowMs, [
    { ...by, type: 'recipientAddress.created', data: { chain, address: given.address, currency } },
    { ...by, type: 'addressBookRecipient.pending' },
  ])
  return address
}

/** Deletes a stored address; transfers in progress to it continue. A verified address on hold cannot be deleted. */
export async function removeRecipientAddress(
  ctx: EngineCtx,
  { id, ...by }: RequestOrigin & { id: string },
): Promise<void> {
  const found = await lockRecipientAddress(ctx.db, by.entityId, id, 'update')
  if (!found) throw notFound('recipient address', id, 'recipientAddressNotFound')
  if (found.status === 'verification_succeeded') throw new ApiError('recipientAddressHeld')
  const nowMs = ctx.clock.nowMs()
  await deleteRecipientAddress(ctx.db, by.entityId, id, formatInstant(nowMs))
  await recordChanges(ctx.db, nowMs, [{ ...by, resourceId: id, type: 'recipientAddress.deleted' }])
}

import { createPlatformKey, watchAddress } from '#custody/index'
import type { KeyFamily } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import type { RequestOrigin } from '../types.ts'
import { type DepositAddress, insertDepositAddress, lockDepositAddress } from './store.ts'

type NewDepositAddress = RequestOrigin &
  Pick<DepositAddress, 'chain' | 'blockchain' | 'currency'> & { family: KeyFamily }

/**
 * Returns the wallet's own address on a chain, for all currencies: the existing one, or a new one that is watched from the
 * commit of this `tx` on.
 */
export async function openDepositAddress(ctx: EngineCtx, input: NewDepositAddress): Promise<DepositAddress> {
  const { entityId, chain, blockchain, currency, family, actor, requestId } = input
  const existing = await lockDepositAddress(ctx.db, input)
  if (existing) return existing
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const { keyId, address } = await createPlatformKey(ctx, { entityId, family })
  const id = newId(nowMs)
  const made: DepositAddress = { entityId, id, chain, blockchain, currency, address, paymentIntentId: null }
  await insertDepositAddress(ctx.db, { ...made, createDate })
  const watched = { entityId, blockchain, address, keyId, purpose: 'deposit' as const, ownerId: id }
  await watchAddress(ctx.db, { ...watched, createDate })
  await recordChanges(ctx.db, nowMs, [
    {
      entityId,
      actor,
      requestId,
      resourceId: id,
      type: 'depositAddress.created',
      data: { chain, currency, address },
    },
  ])
  return made
}

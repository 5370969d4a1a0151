import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { Call } from '#chains/facets/payments'
import type { EngineCtx, EntityCtx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { actingFor } from '../act-for-entity.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { submitTreasuryCall } from '../submit-treasury-call.ts'
import { type CallPurpose, insertAccountCall, lockCalls, openCalls } from './store.ts'

/** Submits a call of the treasury for smart accounts, in `ctx.db`'s tx; returns the id of its transaction. */
export async function submitCall(
  ctx: EntityCtx,
  chain: Chain,
  treasury: TreasuryRow,
  purpose: CallPurpose,
  { gasLimit, ...call }: Call & { to: Address; gasLimit?: bigint },
): Promise<string> {
  const { entityId, blockchain } = treasury
  const id = newId(ctx.nowMs)
  const createDate = formatInstant(ctx.nowMs)
  await insertAccountCall(ctx.db, { entityId, id, blockchain, purpose, createDate })
  await submitTreasuryCall(ctx, chain, treasury, { id, refId: `${purpose} ${id}`, call, gasMax: gasLimit })
  return id
}

/**
 * Submits calls of a purpose that an entity needs once, unless some are under way; returns whether it did. The entity's row is
 * locked, so that two processes do not both begin them.
 */
export async function whenNotCalling(
  ctx: EngineCtx,
  treasury: TreasuryRow,
  purpose: Exclude<CallPurpose, 'bundle'>,
  actor: string,
  submit: (scope: EntityCtx) => Promise<unknown>,
): Promise<boolean> {
  const { entityId, blockchain } = treasury
  const submitted = await ctx.database.tx(async (tx) => {
    await lockCalls(tx, entityId, blockchain)
    if ((await openCalls(tx, { entityId, blockchain, purpose })).length > 0) return false
    await submit({ ...actingFor(ctx, tx, treasury), actor })
    return true
  })
  if (submitted) await announceWork(ctx.database, blockchain)
  return submitted
}

import type { Chain } from '#chains/chain'
import type { Ctx, EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { actor } from './payment-intents/change-payment-intents.ts'

/**
 * The context of a verb, for a worker in a `tx`: it acts for the entity in the name of the treasury engine, with the id of
 * the resource as request id.
 */
export const workerScope = (
  ctx: EngineCtx,
  tx: Db,
  { network }: Chain,
  { entityId, id }: { entityId: string; id: string },
): Ctx => ({
  ...ctx,
  db: tx,
  entity: { id: entityId, environment: network.environment, appId: '' },
  actor,
  requestId: id,
  receivedMs: ctx.clock.nowMs(),
  afterRollback: [],
  afterCommit: [],
})

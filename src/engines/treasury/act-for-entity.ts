import type { EngineCtx, EntityCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'

/** The name of this engine in the audit log. */
export const actor = 'treasury'

/** The context of a worker's `tx` for the entity of a resource, whose id serves as the request id. */
export const actingFor = (
  ctx: EngineCtx,
  tx: Db,
  { entityId, id }: { entityId: string; id: string },
): EntityCtx => ({
  ...ctx,
  db: tx,
  entity: { id: entityId },
  actor,
  requestId: id,
  nowMs: ctx.clock.nowMs(),
})

import type { EngineCtx } from '#engines/ctx'
import type { Ref } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'

/** The name of this engine in the audit log and among those that follow blocks. */
export const modularEngine = 'modular'

/** Records that these user operations entered the state. */
export const noteUserOperations = (
  ctx: EngineCtx,
  tx: Db,
  rows: readonly Ref[],
  state: string,
): Promise<void> => note(ctx, tx, rows, 'userOperation', state)

/** Records that these transfers entered the state. */
export const noteTransfers = (ctx: EngineCtx, tx: Db, rows: readonly Ref[], state: string): Promise<void> =>
  note(ctx, tx, rows, 'modularTransfer', state)

const note = (ctx: EngineCtx, tx: Db, rows: readonly Ref[], resource: string, state: string) =>
  recordChanges(
    tx,
    ctx.clock.nowMs(),
    rows.map(({ entityId, id }) => ({
      entityId,
      actor: modularEngine,
      type: `${resource}.${state.toLowerCase()}`,
      resourceId: id,
      data: { state },
    })),
  )

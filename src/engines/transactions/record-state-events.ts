import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import type { Ref } from './store/transactions.ts'

/** A transaction whose state changed; `announced`: whether the change is notified. */
type Changed = Ref & { announced?: boolean }

/** Records that these transactions entered the state. */
export const noteStates = (
  ctx: EngineCtx,
  tx: Db,
  rows: readonly Changed[],
  state: string,
  reason?: string,
): Promise<void> =>
  recordChanges(
    tx,
    ctx.clock.nowMs(),
    rows
      .filter(({ announced = true }) => announced)
      .map(({ entityId, id }) => ({
        entityId,
        actor: 'transactions',
        type: `transaction.${state.toLowerCase()}`,
        resourceId: id,
        data: { state, ...(reason !== undefined && { reason }) },
      })),
  )

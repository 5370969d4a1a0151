import { screenSenders } from '#engines/compliance/index'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { holdDeposit, type UnifiedMovement } from './store/movements.ts'

/**
 * The movements that may count. Deposits that an account made for another one wait while screening does not clear it; a
 * depositor that is listed itself is denied when it spends.
 */
export async function clearedOf(
  ctx: EngineCtx,
  tx: Db,
  movements: readonly UnifiedMovement[],
): Promise<UnifiedMovement[]> {
  const groups = movements.map(({ blockchain, sender }) =>
    sender === null ? [] : [{ blockchain, address: sender }],
  )
  if (groups.every((group) => group.length === 0)) return [...movements]
  const decisions = await screenSenders({ ...ctx, db: tx }, groups)
  const cleared: UnifiedMovement[] = []
  for (const [index, movement] of movements.entries()) {
    const { actions, ruleName } = decisions[index]!
    if (actions.includes('APPROVE')) cleared.push(movement)
    else if (await holdDeposit(tx, ctx.clock.nowMs(), movement)) {
      const { blockchain, depositor, sender, txHash } = movement
      raiseAlarm(
        ctx.log,
        'deposit-held',
        { blockchain, depositor, sender, txHash, ruleName },
        'an account that screening does not clear deposited for another one: the deposit does not count',
      )
    }
  }
  return cleared
}

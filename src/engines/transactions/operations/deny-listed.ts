import type { Chain } from '#chains/chain'
import { operationFromJson } from '#chains/operation-json'
import { screenRecipients } from '#engines/compliance/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { denyUnsigned } from '../fail-unsent.ts'
import { callOf } from '../intent.ts'
import { counterpartiesOfCall, counterpartiesOfCreation } from '../recipients.ts'
import { endOperations, type WaitingOperation } from '../store/operations.ts'

/**
 * Denies those of the signed operations that pay an address that was listed since, if no bundle ever carried them: nothing
 * can execute those. One that a bundle carried goes into no further one. Returns the ids of the others. No list changes
 * before the `tx` ends.
 */
export async function denyListedOperations(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  waiting: readonly WaitingOperation[],
): Promise<Set<string>> {
  if (waiting.length === 0) return new Set()
  await shareLists(tx)
  const groups = waiting.map((row) => [
    ...counterpartiesOfCall(chain, callOf(row)),
    ...counterpartiesOfCreation(chain, operationFromJson(row.operation)),
  ])
  const decisions = await screenRecipients({ ...ctx, db: tx }, groups)
  const listed = waiting.flatMap((row, index) => {
    const { actions, ruleName = '' } = decisions[index]!
    const details = `screening denies it (${ruleName}); nothing was sent`
    return actions.includes('DENY') ? [{ ...row, ruleName, details }] : []
  })
  const denied = listed.filter(({ wasBundled }) => !wasBundled)
  await denyUnsigned(
    tx,
    ctx,
    denied.filter(({ isExternal }) => !isExternal),
  )
  await endOperations(tx, denied, 'screening denies it; nothing was sent')
  const left = new Set(listed.map(({ id }) => id))
  return new Set(waiting.map(({ id }) => id).filter((id) => !left.has(id)))
}

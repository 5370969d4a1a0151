import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { findPolicy, type RebalancingPolicy, saveFirstPolicy, savePolicy, withdrawPolicy } from './store.ts'

type OperatorPolicyScope = { db: Db; clock: { nowMs(): number }; actor: string; requestId?: string }

/** Lets an entity's coins be moved between chains, within these limits, or no more where there are none. */
export const setRebalancing = (
  { db, clock, actor, requestId }: OperatorPolicyScope,
  entityId: string,
  policy: RebalancingPolicy | undefined,
): Promise<void> =>
  db.tx(async (tx) => {
    const nowMs = clock.nowMs()
    const before = await findPolicy(tx, entityId)
    if (policy) await savePolicy(tx, entityId, policy, formatInstant(nowMs))
    else await withdrawPolicy(tx, entityId, formatInstant(nowMs))
    if (!policy && !before) return
    const data = policy && dataOf(policy)
    const type = policy ? 'rebalancing.allowed' : 'rebalancing.forbidden'
    await recordChanges(tx, nowMs, [
      { entityId, actor, requestId, type, resourceId: entityId, ...(data && { data }) },
    ])
  })

/** More than a sandbox ever has: any amount moves at once. */
const sandboxPolicy: RebalancingPolicy = { messageMax: 10n ** 24n, reserve: 0n }

/** Lets an entity's coins be moved in a sandbox, unless its operator decided about it before. */
export async function allowInSandbox(tx: Db, entityId: string, nowMs: number): Promise<void> {
  if (!(await saveFirstPolicy(tx, entityId, sandboxPolicy, formatInstant(nowMs)))) return
  const data = dataOf(sandboxPolicy)
  await recordChanges(tx, nowMs, [
    { entityId, actor: 'sandbox', type: 'rebalancing.allowed', resourceId: entityId, data },
  ])
}

const dataOf = ({ messageMax, reserve }: RebalancingPolicy) => ({
  messageMax: String(messageMax),
  reserve: String(reserve),
})

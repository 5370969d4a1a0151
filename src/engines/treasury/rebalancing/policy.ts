import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { deletePolicy, findPolicy, type RebalancingPolicy, savePolicy } from './store.ts'

type OperatorPolicyScope = { db: Db; clock: { nowMs(): number }; actor: string }

/** Lets an entity's coins be moved between chains, within these limits, or no more where there are none. */
export const setRebalancing = (
  { db, clock, actor }: OperatorPolicyScope,
  entityId: string,
  policy: RebalancingPolicy | undefined,
): Promise<void> =>
  db.tx(async (tx) => {
    const nowMs = clock.nowMs()
    const before = await findPolicy(tx, entityId)
    if (policy) await savePolicy(tx, entityId, policy, formatInstant(nowMs))
    else await deletePolicy(tx, entityId)
    if (!policy && !before) return
    const data = policy && { messageMax: String(policy.messageMax), reserve: String(policy.reserve) }
    const type = policy ? 'rebalancing.allowed' : 'rebalancing.forbidden'
    await recordChanges(tx, nowMs, [{ entityId, actor, type, resourceId: entityId, ...(data && { data }) }])
  })

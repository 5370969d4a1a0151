import { createHash } from 'node:crypto'
import { type Operation, operationKinds } from '#custody/policy/index'
import type { EngineCtx } from '#engines/ctx'
import { callOf, intentBytes } from '../intent.ts'
import { acceptedCalls } from './store/calls.ts'

/** A decision of policy, with the hash of the intent that it is bound to. */
type DecidedIntent = { intentId: string; operation: string; intentSha256: Buffer }

/**
 * The operations that policy decided about, by intent, made again from the calls of their transactions. An intent is absent that is no
 * transaction, whose call is another one than was decided about, or whose chain is not connected.
 */
export async function rebuildOperations(
  { db, chains }: Pick<EngineCtx, 'db' | 'chains'>,
  entityId: string,
  decided: readonly DecidedIntent[],
): Promise<Map<string, Operation>> {
  const calls = await acceptedCalls(
    db,
    entityId,
    decided.map(({ intentId }) => intentId),
  )
  const found = new Map<string, Operation>()
  for (const { intentId, operation, intentSha256 } of decided) {
    const call = calls.find(({ id }) => id === intentId)
    const chain = call && chains.find(call.blockchain)
    const kind = operationKinds.find((each) => each === operation)
    if (!chain || !kind) continue
    const isSame = createHash('sha256').update(intentBytes(call)).digest().equals(intentSha256)
    if (isSame) found.set(intentId, { kind, ...chain.payments.decodeCall(callOf(call)) })
  }
  return found
}

import type { Ctx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'
import { type ChallengeOwner, insertChallenge } from './store.ts'
import type { ChallengeKind, PricedSummary } from './types.ts'

/** The life of a challenge: as long as the user token that an app asks for. */
export const challengeMs = 60 * 60_000

export const challengeOwner = ({ entity, user }: Ctx): ChallengeOwner => ({
  entityId: entity.id,
  userId: user!.userId,
})

/** Records what the app asks of the user. Nothing is done until the user approves it. */
export async function createChallenge<Request extends object>(
  ctx: Ctx,
  { type }: Pick<ChallengeKind<Request>, 'type'>,
  request: Request,
  { feeMax, ...summary }: PricedSummary,
): Promise<{ challengeId: string }> {
  const { db, entity, actor, requestId, receivedMs: nowMs } = ctx
  const id = newId(nowMs)
  const expireMs = nowMs + challengeMs
  const kept = { ...request, ...(feeMax !== undefined && { feeMax }) }
  await insertChallenge(db, { ...challengeOwner(ctx), id, type, request: kept, summary, nowMs, expireMs })
  await recordChanges(db, nowMs, [
    { entityId: entity.id, actor, type: 'challenge.created', resourceId: id, requestId },
  ])
  return { challengeId: id }
}

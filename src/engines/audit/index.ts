/**
 * Makes tampering with the audit trail visible: links the entries of each entity into a hash chain, in batches after their
 * `tx` committed, and signs its heads. Entries wait for about a second, and less while readers follow events. The step polls,
 * because a NOTIFY in every `tx` takes a lock that all commits share. Any number of workers may run; one links at a time.
 *
 * Entry: what was done, by whom, when. Link: the hash that binds an entry to all before it. Head: the last link of a batch, signed.
 */

import type { EngineCtx } from '#engines/ctx'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn } from '#runtime/turns/store'
import { linkEntries } from './link-entries.ts'

export { type FollowedEvent, followEvents, placeInTrail, type Restores } from './follow-events.ts'
export { linkEntries } from './link-entries.ts'
export { type AuditAct, actsPage } from './store/acts.ts'
export type { SignedHead } from './store/links.ts'
export { countUnlinked, type TrailItem } from './store/trail.ts'
export { signedHeads, trailOf } from './trail.ts'
export { createVerifier, type Finding, verifyDatabase } from './verify.ts'
export { verifyPage } from './verify-page.ts'

/** Interval between batches, and the time for which an entry has no link. */
const linkMs = 1_000

export function startAudit(ctx: EngineCtx): Service {
  const turn = newTurn('linking audit entries')
  return serviceOf(repeat(() => linkEntries(ctx, turn), logTrouble(ctx.log, 'linking audit entries'), linkMs))
}

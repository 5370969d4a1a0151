import type { ScreeningChain } from '#chains/screening-chains'
import type { Ctx } from '#engines/ctx'
import { recordChanges } from '#runtime/record/store'
import { matchRules } from './match-rules.ts'
import { decide } from './rules.ts'
import { presentVersions } from './store/lists.ts'
import { insertScreening, type Screening } from './store/screenings.ts'
import type { Subject } from './types.ts'

type ScreeningRequest = { id: string; chain: ScreeningChain; subject: Subject }

/** Decides about an address as the receiver of value, and records the decision with the versions of the lists. */
export async function screenAddress(ctx: Ctx, { id, chain, subject }: ScreeningRequest): Promise<Screening> {
  const { db, entity, actor, requestId, receivedMs } = ctx
  const [matches = []] = await matchRules(ctx, [subject])
  const decision = decide(matches, 'outbound')
  const screening = await insertScreening(db, receivedMs, {
    entityId: entity.id,
    id,
    chain,
    address: subject.text,
    canonicalAddress: subject.address,
    result: decision.actions.includes('DENY') ? 'DENIED' : 'APPROVED',
    ruleName: decision.ruleName ?? null,
    actions: decision.actions,
    reasons: decision.reasons,
    evidence: {
      lists: await presentVersions(db),
      matched: matches.map(({ rule, entry }) => ({ ruleName: rule.name, ...entry })),
    },
  })
  const type = `screening.${screening.result.toLowerCase()}`
  const data = {
    chain,
    address: subject.text,
    ruleName: decision.ruleName ?? null,
    actions: decision.actions,
  }
  await recordChanges(db, receivedMs, [{ entityId: entity.id, actor, requestId, type, resourceId: id, data }])
  return screening
}

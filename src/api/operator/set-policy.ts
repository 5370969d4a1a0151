import type { Static } from 'typebox'
import { ruleEntries } from '#chains/rule-entries'
import {
  findListedPolicy,
  findPolicyInForce,
  findSubject,
  type PolicySubject,
  readRules,
  setPolicy,
} from '#custody/policy/index'
import type { Ctx } from '#engines/ctx'
import { notFound } from '#lib/errors'
import type { setPolicyBody } from './policy-schema.ts'
import { showPolicy } from './read-control.ts'

/** The rules of a request, which names a wrong member by its path. */
export const rulesOf = (rules: unknown) => readRules(rules, { at: 'rules', ...ruleEntries })

/** The subject of this id; the entity without one. */
export async function requirePolicySubject({ db, entity }: Ctx, id = entity.id): Promise<PolicySubject> {
  const subject = await findSubject(db, entity.id, id.toLowerCase())
  if (!subject) throw notFound('wallet, wallet set or API key', id, 'policySubjectNotFound', 'subjectId')
  return subject
}

/** Puts rules in force for the entity, a wallet set, a wallet or an API key. */
export async function setSubjectPolicy(ctx: Ctx, body: Static<typeof setPolicyBody>) {
  const rules = rulesOf(body.rules)
  const subject = await requirePolicySubject(ctx, body.subjectId)
  await setPolicy(ctx, subject, rules, body.replacesVersion)
  return showPolicy((await findPolicyInForce(ctx.db, ctx.entity.id, subject.subjectId))!)
}

export async function getPolicy(ctx: Ctx, id: string) {
  const policy = await findListedPolicy(ctx.db, ctx.entity.id, id)
  if (!policy) throw notFound('version of a policy', id, 'policyVersionNotFound')
  return showPolicy(policy)
}

import { formatInstant } from '#lib/time'
import { apiKeyIdOf } from '#runtime/auth/actor'
import type { Config } from '#runtime/config'
import { oncePer } from '#runtime/scheduling/memoize'
import type { EntityScope } from '#runtime/scope'
import {
  type PolicyRow,
  policiesOfCaller,
  policiesOver,
  rulesOfVersions,
  spentSince,
} from '../store/policies.ts'
import type { Signatory } from '../wallets/types.ts'
import { denialOf, type Spend, windowDenial } from './evaluate.ts'
import { isSignedAtOnce, type Operation } from './operation.ts'
import { type Compiled, compileRules } from './rules.ts'

/** A policy over a wallet: the subject and the number of its version, and its rules. */
export type Policy = Pick<PolicyRow, 'scope' | 'subjectId' | 'version'> & {
  versionId: string
  rules: Compiled
}

/** A policy that does not allow an operation, and why. */
export type PolicyDenial = { policy: Policy; reason: string }

/** The reason to deny where no policy applies. */
export const noPolicyText = (entityId: string): string =>
  `There is no policy, and without one nothing is signed. Choose one with: bezant policy set --entity ${entityId} --policy permissive|FILE`

/** Returns the policies over the wallet and the API key that asks, the widest first. */
export async function policiesFor(
  ctx: EntityScope,
  wallet: Signatory,
  operation: Operation,
  { lock, apiKeyId }: { lock: boolean; apiKeyId: string | undefined },
): Promise<Policy[]> {
  const rows = await policiesOver(ctx.db, ctx.entity.id, wallet, {
    everywhere: isSignedAtOnce(operation),
    lock,
    apiKeyId,
  })
  return withRules(ctx, rows)
}

/** Returns the policies of the entity and of the API key that asks, which decide on what leaves no wallet. */
export const policiesOfAsker = async (ctx: EntityScope, lock: boolean): Promise<Policy[]> =>
  withRules(ctx, await policiesOfCaller(ctx.db, ctx.entity.id, apiKeyIdOf(ctx.actor), lock))

async function withRules(ctx: EntityScope, rows: readonly PolicyRow[]): Promise<Policy[]> {
  const compiled = await compiledOf(ctx, rows)
  return rows.map((row, index) => ({ ...row, rules: compiled[index]! }))
}

/** Returns the first policy that denies the operation on its own, without the rolling limits. */
export function firstDenial(policies: readonly Policy[], operation: Operation): PolicyDenial | undefined {
  for (const policy of policies) {
    const reason = denialOf(policy.rules, operation)
    if (reason !== undefined) return { policy, reason }
  }
  return undefined
}

/** Returns the first policy whose rolling limits have no room for the amounts. */
export async function firstFull(
  { db, entity, clock }: EntityScope,
  policies: readonly Policy[],
  spends: readonly Spend[],
): Promise<PolicyDenial | undefined> {
  for (const policy of policies) {
    const reason = await windowDenial(policy.rules, spends, ({ tokens }, seconds) =>
      spentSince(db, entity.id, policy, {
        tokens,
        purpose: 'signature',
        sinceDate: formatInstant(clock.nowMs() - seconds * 1_000),
      }),
    )
    if (reason !== undefined) return { policy, reason }
  }
  return undefined
}

/** Compiled rules by version id: versions never change, so entries stay valid. */
const compiledVersionsIn = oncePer((_config: Config) => new Map<string, Compiled>())
const compiledMax = 1_000

async function compiledOf(
  { config, db, entity }: EntityScope,
  rows: readonly PolicyRow[],
): Promise<Compiled[]> {
  const compiledVersions = compiledVersionsIn(config)
  const ids = rows.map(({ versionId }) => versionId)
  // Read before the query: another request may empty the cache meanwhile.
  const known = ids.map((id) => compiledVersions.get(id))
  const missing = ids.filter((_, index) => !known[index])
  const found = missing.length > 0 ? await rulesOfVersions(db, entity.id, missing) : []
  const fresh = new Map(found.map(({ id, rules }) => [id, compileRules(rules)]))
  const compiled = ids.map((id, index) => known[index] ?? fresh.get(id)!)
  if (compiledVersions.size + fresh.size > compiledMax) compiledVersions.clear()
  for (const [id, rules] of fresh) compiledVersions.set(id, rules)
  return compiled
}

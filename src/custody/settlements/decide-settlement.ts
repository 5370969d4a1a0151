/**
 * Policy over settlements: payments that others signed, whose network fee a treasury pays. The policies of the entity and of the API
 * key that asks decide, as far as they have rules about settlements. Limits are counted as those of signatures are: under a lock on
 * the rows of the policies, and reserved in the same `tx`.
 */
import { formatInstant } from '#lib/time'
import { apiKeyIdOf } from '#runtime/auth/actor'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { oncePer } from '#runtime/scheduling/memoize'
import type { EntityScope } from '#runtime/scope'
import {
  allowsEntry,
  fullLimit,
  type LimitDenial,
  transactionLimitDenial,
  windowsOf,
} from '../policy/evaluate.ts'
import { type Policy, policiesOfAsker } from '../policy/policies-over.ts'
import type { Limit, SettlementRules } from '../policy/rules.ts'
import {
  type FinalIntent,
  insertSettledSpending,
  type SettledSpend,
  setFinal,
  spentSince,
} from '../store/policies.ts'

/** A settlement in the names of rules: `token` is `native` where the coin of the network is paid. Amounts are in base units. */
export type SettlementTerms = {
  blockchain: string
  token: string
  destination: string
  amountAtomic: bigint
  /** The most that the treasury pays for it, in native coins. */
  feeMaxAtomic: bigint
}

/**
 * The policy and the rule that refuse a settlement. `isFull`: the limit of a period has no room now. `why` has the amounts, which a
 * buyer should not read.
 */
export type SettlementDenial = LimitDenial & {
  isFull: boolean
  policy: Pick<Policy, 'scope' | 'subjectId' | 'version'>
}

type SettlementPolicy = Policy & { settlements: SettlementRules }

/** The policies that would decide on settlements now. Nothing is reserved. */
type SettlementPolicies = {
  /** Whether none has rules about settlements. */
  areSilent: boolean
  /** Whether one limits network fees. */
  countFees: boolean
  /** The rule that would refuse a settlement. */
  denialOf(terms: SettlementTerms): Promise<SettlementDenial | undefined>
}

/** Askers without rules, and until when they count as such. Most have none, and reading that costs a sixth of a verdict. */
const silentAskersOf = oncePer((_config: Config) => new Map<string, number>())
/** The longest that new rules may be unknown to verdicts, as a revoked key may be; settlements are decided without this. */
const silentMs = 1_000
const silentMax = 10_000

export async function settlementPoliciesOf(ctx: EntityScope): Promise<SettlementPolicies> {
  const askers = silentAskersOf(ctx.config)
  const asker = `${ctx.entity.id} ${ctx.actor}`
  const isSilent = (askers.get(asker) ?? 0) > performance.now()
  const policies = isSilent ? [] : deciding(await policiesOfAsker(ctx, false))
  if (policies.length > 0) askers.delete(asker)
  else if (!isSilent) {
    if (askers.size >= silentMax) askers.clear()
    askers.set(asker, performance.now() + silentMs)
  }
  return {
    areSilent: policies.length === 0,
    countFees: policies.some(({ settlements }) => settlements.networkFees.length > 0),
    denialOf: async (terms) =>
      firstRefusing(policies, terms) ?? (await firstWithoutRoom(ctx, policies, terms)),
  }
}

/**
 * Decides on a settlement in `ctx.db`'s tx: returns the rule that refuses it, or the versions of the policies that allow it. Where
 * limits of periods count it, others wait for this `tx`, which has to reserve it.
 */
export async function decideSettlement(
  ctx: EntityScope,
  terms: SettlementTerms,
): Promise<{ denial: SettlementDenial } | { denial: undefined; versionIds: string[] }> {
  let policies = deciding(await policiesOfAsker(ctx, false))
  let denial = firstRefusing(policies, terms)
  if (!denial && hasPeriods(policies, terms)) {
    policies = deciding(await policiesOfAsker(ctx, true))
    // Under the lock, the sums include every earlier settlement.
    denial = firstRefusing(policies, terms) ?? (await firstWithoutRoom(ctx, policies, terms))
  }
  if (!denial) return { denial, versionIds: policies.map(({ versionId }) => versionId) }
  const { policy, at, why } = denial
  ctx.log.warn(
    { entityId: ctx.entity.id, actor: ctx.actor, ...policy, reason: `${at} ${why}` },
    'settlement denied by policy',
  )
  return { denial }
}

/** Reserves what a settlement takes, in the `tx` that decided on it. `intentId`: the transaction that will settle it. */
export const reserveSettlement = (ctx: EntityScope, intentId: string, terms: SettlementTerms) =>
  insertSettledSpending(
    ctx.db,
    {
      entityId: ctx.entity.id,
      intentId,
      apiKeyId: apiKeyIdOf(ctx.actor),
      createDate: formatInstant(ctx.clock.nowMs()),
    },
    spendsOfTerms(terms),
  )

function spendsOfTerms({ blockchain, token, amountAtomic, feeMaxAtomic }: SettlementTerms): SettledSpend[] {
  return [
    { purpose: 'settlement', blockchain, token, amountAtomic },
    { purpose: 'networkFee', blockchain, token: 'native', amountAtomic: feeMaxAtomic },
  ]
}

const deciding = (policies: readonly Policy[]): SettlementPolicy[] =>
  policies.flatMap((policy) => {
    const settlements = policy.rules.mode === 'rules' ? policy.rules.settlements : undefined
    return settlements ? [{ ...policy, settlements }] : []
  })

/** Each list of limits with its path in the rules and the amount that it counts. */
const limitsOn = ({ settlements }: SettlementPolicy, terms: SettlementTerms) =>
  spendsOfTerms(terms).map((spend): [string, readonly Limit[], SettledSpend] =>
    spend.purpose === 'settlement'
      ? ['settlements.limits', settlements.limits, spend]
      : ['settlements.networkFees', settlements.networkFees, spend],
  )

const hasPeriods = (policies: readonly SettlementPolicy[], terms: SettlementTerms): boolean =>
  policies.some((policy) =>
    limitsOn(policy, terms).some(([, limits, spend]) => windowsOf(limits, [spend]).length > 0),
  )

/** The first policy that refuses the settlement, whatever was settled before. */
function firstRefusing(
  policies: readonly SettlementPolicy[],
  terms: SettlementTerms,
): SettlementDenial | undefined {
  for (const policy of policies) {
    const found = refusingRule(policy, terms)
    if (found) return denied(policy, found, false)
  }
  return undefined
}

function refusingRule(policy: SettlementPolicy, terms: SettlementTerms): LimitDenial | undefined {
  const { blockchain, token, destination } = terms
  const { tokens, destinations } = policy.settlements
  if (!allowsEntry(tokens, blockchain, token))
    return { at: 'settlements.tokens', why: `does not list ${blockchain}:${token}` }
  if (!allowsEntry(destinations, blockchain, destination))
    return { at: 'settlements.destinations', why: `does not list ${blockchain}:${destination}` }
  for (const [at, limits, spend] of limitsOn(policy, terms)) {
    const found = transactionLimitDenial(limits, [spend], at)
    if (found) return found
  }
  return undefined
}

/** The first policy of which the limit of a period has no room. */
async function firstWithoutRoom(
  { db, entity, clock }: EntityScope,
  policies: readonly SettlementPolicy[],
  terms: SettlementTerms,
): Promise<SettlementDenial | undefined> {
  for (const policy of policies)
    for (const [at, limits, spend] of limitsOn(policy, terms)) {
      const { purpose } = spend
      const spentIn = ({ tokens }: Limit, seconds: number) =>
        spentSince(db, entity.id, policy, {
          tokens,
          purpose,
          sinceDate: formatInstant(clock.nowMs() - seconds * 1_000),
        })
      const found = await fullLimit(limits, [spend], spentIn, at)
      if (found) return denied(policy, found, true)
    }
  return undefined
}

const denied = (
  { scope, subjectId, version }: Policy,
  rule: LimitDenial,
  isFull: boolean,
): SettlementDenial => ({ ...rule, isFull, policy: { scope, subjectId, version } })

/** Ends the reservations of intents in final blocks: what moved nothing is released, and fees are what was paid. */
export async function settleAllowance(tx: Db, nowMs: number, intents: readonly FinalIntent[]): Promise<void> {
  if (intents.length > 0) await setFinal(tx, intents, formatInstant(nowMs))
}

/**
 * Judges rules that are not in force: what they would say to an operation, and to past ones. The evaluation is that of decisions;
 * nothing is written, locked or counted.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalid } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { EntityScope } from '#runtime/scope'
import type { PastDecision } from '../store/listed-policies.ts'
import { amountsSince, type SpentAmount } from '../store/policies.ts'
import type { Signatory } from '../wallets/types.ts'
import { countedBy, denialOf, spendsOf, windowDenial } from './evaluate.ts'
import { isSignedAtOnce, type Operation, operationKinds } from './operation.ts'
import { firstDenial, firstFull, noPolicyText, type Policy, policiesFor } from './policies-over.ts'
import { type Compiled, compileRules, type Limit, type Rules } from './rules.ts'
import type { PolicySubject } from './set-policy.ts'

/** Rules for a subject that are not in force. */
export type CandidatePolicy = { subject: PolicySubject; rules: Rules }

/** Why an operation would be refused, and by the policy of which subject; without one where no policy applies. */
type OperationRefusal = {
  reason: string
  policy?: { scope: Policy['scope']; subjectId: string; version?: number }
}

const scopes = ['entity', 'walletSet', 'wallet', 'apiKey'] as const

/** Says whether the policies over the wallet, with the candidate in place of that of its subject, would refuse an operation. */
export async function tryOperation(
  ctx: EntityScope,
  wallet: Signatory,
  operation: Operation,
  { subject, rules }: CandidatePolicy,
): Promise<OperationRefusal | undefined> {
  const { scope, subjectId } = subject
  const apiKeyId = scope === 'apiKey' ? subjectId : undefined
  if (![ctx.entity.id, wallet.walletSetId, wallet.id, apiKeyId].includes(subjectId))
    throw invalid({
      at: 'walletId',
      reason: `is of a wallet that the policy does not decide on: name one under ${subjectId}`,
      value: wallet.id,
    })
  const candidate: Policy = { scope, subjectId, version: 0, versionId: '', rules: compileRules(rules) }
  const inForce = await policiesFor(ctx, wallet, operation, { lock: false, apiKeyId })
  const policies = [...inForce.filter((policy) => policy.subjectId !== subjectId), candidate].sort(
    (one, other) => scopes.indexOf(one.scope) - scopes.indexOf(other.scope),
  )
  if (policies.every((policy) => policy.scope === 'apiKey')) return { reason: noPolicyText(ctx.entity.id) }
  const denial = firstDenial(policies, operation) ?? (await firstFull(ctx, policies, spendsOf(operation)))
  if (!denial) return undefined
  const { version, versionId } = denial.policy
  return {
    reason: denial.reason,
    policy: {
      scope: denial.policy.scope,
      subjectId: denial.policy.subjectId,
      ...(versionId !== '' && { version }),
    },
  }
}

/**
 * Says which of several operations of a wallet the policies over it would refuse, by their places, and whether the limits of periods
 * have room for the sum of the others.
 */
export async function tryTogether(
  ctx: EntityScope,
  wallet: Signatory,
  operations: readonly Operation[],
): Promise<{ refused: Map<number, string>; sum?: string }> {
  const refused = new Map<number, string>()
  const [first] = operations
  if (!first) return { refused }
  const policies = await policiesFor(ctx, wallet, first, { lock: false, apiKeyId: undefined })
  const allowed: Operation[] = []
  for (const [place, operation] of operations.entries()) {
    const reason =
      policies.length === 0 ? noPolicyText(ctx.entity.id) : firstDenial(policies, operation)?.reason
    if (reason === undefined) allowed.push(operation)
    else refused.set(place, reason)
    if (place % triedAtOnce === 0) await nextTurn()
  }
  const together = { ...first, effects: allowed.flatMap(({ effects }) => effects) }
  const full = await firstFull(ctx, policies, spendsOf(together))
  return { refused, ...(full && { sum: full.reason }) }
}

/** Operations that are tried before other requests have a turn. */
const triedAtOnce = 100

/** A past decision, with its operation where that is known. */
type PastOperation = PastDecision & { rebuilt: Operation | undefined }

export type PastVerdict = { verdict: 'allowed' } | { verdict: 'refused' | 'unjudged'; reason: string }

/** Maximum number of past amounts that are added up; each token of the limits has its share. */
const amountsMax = 5_000

/**
 * Says what the candidate would have answered to past operations, given newest first. They are judged in their order, so that what
 * it refuses does not count against its limits; amounts of operations before those given count as they left, and those of operations
 * that came to nothing do not.
 */
export async function tryPast(
  ctx: EntityScope,
  candidate: CandidatePolicy,
  past: readonly PastOperation[],
): Promise<Map<string, PastVerdict>> {
  const rules = compileRules(candidate.rules)
  const history = await historyOf(ctx, candidate.subject, rules, past)
  const verdicts = new Map<string, PastVerdict>()
  for (const each of [...past].reverse()) {
    const verdict = await judge(rules, each, history)
    verdicts.set(each.id, verdict)
    history.judge(each.intentId, verdict.verdict !== 'refused')
    // Many rules with many amounts must not hold up other requests.
    await nextTurn()
  }
  return verdicts
}

async function judge(rules: Compiled, past: PastOperation, history: SpendingHistory): Promise<PastVerdict> {
  const kind = operationKinds.find((each) => each === past.operation)
  const operation =
    past.operation === 'sweep'
      ? ({ kind: 'sweep', effects: [], dangers: [] } as const)
      : (past.rebuilt ?? (kind && { kind, effects: [], dangers: [] }))
  if (!operation) return unjudged('it was let be signed again after a restore, and what by is not known')
  // Fewer effects are refused for no reason that all of them would not be.
  const reason = denialOf(rules, operation)
  if (reason !== undefined) return { verdict: 'refused', reason }
  if (operation.kind === 'sweep' || rules.mode === 'permissive') return { verdict: 'allowed' }
  if (!past.rebuilt)
    return unjudged(
      isSignedAtOnce(operation)
        ? 'the caller holds the signature, and what was signed is not kept'
        : 'its call is not kept, or its chain is not connected',
    )
  const beforeMs = Date.parse(past.createDate)
  let isKnown = true
  const full = await windowDenial(rules, spendsOf(operation), async (limit, seconds) => {
    const spent = history.spentIn(limit, beforeMs - seconds * 1_000, beforeMs)
    isKnown &&= spent.isKnown
    return spent.amountAtomic
  })
  if (full !== undefined) return { verdict: 'refused', reason: full }
  return isKnown ? { verdict: 'allowed' } : unjudged('a period of limits has too many amounts to add up')
}

const unjudged = (reason: string): PastVerdict => ({ verdict: 'unjudged', reason })

type SpendingHistory = {
  /** Counts the amounts of an intent from now on, or never. */
  judge(intentId: string, isCounted: boolean): void
  spentIn(limit: Limit, sinceMs: number, untilMs: number): { amountAtomic: bigint; isKnown: boolean }
}

type DatedAmount = SpentAmount & { atMs: number }

/** The amounts that left under the subject in the periods of the limits. Those of the past operations count once they are judged. */
async function historyOf(
  { db, entity }: EntityScope,
  subject: PolicySubject,
  rules: Compiled,
  past: readonly PastOperation[],
): Promise<SpendingHistory> {
  const limits = rules.mode === 'rules' ? rules.limits : []
  const tokens = [...new Set(limits.flatMap((limit) => limit.tokens.map(({ token }) => token)))]
  const seconds = Math.max(0, ...limits.flatMap(({ windows }) => windows.map((each) => each.seconds)))
  const oldest = past.at(-1)
  const share = Math.ceil(amountsMax / Math.max(1, tokens.length))
  const rows =
    oldest && seconds > 0
      ? await amountsSince(db, entity.id, subject, {
          tokens,
          sinceDate: formatInstant(Date.parse(oldest.createDate) - seconds * 1_000),
          limit: share,
        })
      : []
  const amounts = rows.map((row) => ({ ...row, atMs: Date.parse(row.createDate) }))
  // Of a token with as many rows as were asked for, older ones are not known.
  const read = new Map<string, { count: number; sinceMs: number }>()
  for (const { token, atMs } of amounts) {
    const before = read.get(token) ?? { count: 0, sinceMs: atMs }
    read.set(token, { count: before.count + 1, sinceMs: Math.min(before.sinceMs, atMs) })
  }
  const knownSince = (token: string) => {
    const { count, sinceMs } = read.get(token) ?? { count: 0, sinceMs: 0 }
    return count < share ? 0 : sinceMs
  }
  const waiting = new Set(past.map(({ intentId }) => intentId))
  const counted = new Map(limits.map((limit) => [limit, amounts.filter((each) => counts(limit, each))]))
  return {
    judge: (intentId, isCounted) => {
      if (isCounted) waiting.delete(intentId)
    },
    spentIn: (limit, sinceMs, untilMs) => ({
      amountAtomic: (counted.get(limit) ?? [])
        .filter(({ atMs, intentId }) => atMs > sinceMs && atMs <= untilMs && !waiting.has(intentId))
        .reduce((sum, { amount }) => sum + amount, 0n),
      isKnown: limit.tokens.every(({ token }) => knownSince(token) <= sinceMs),
    }),
  }
}

const counts = (limit: Limit, { amount: amountAtomic, ...spend }: DatedAmount) =>
  countedBy(limit, [{ ...spend, amountAtomic }]) !== undefined

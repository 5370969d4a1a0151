/**
 * Policy before signature. A decision is made in the `tx` that accepts a request, and everything that signs for a wallet
 * takes one. It allows only what every policy over the wallet allows (entity, wallet set, wallet); without any it denies.
 * Rolling limits are counted under a lock on the policies' rows and reserved in the same `tx`, so that they hold for
 * any number of requests at once; what comes to nothing is given back.
 */
import { createHash } from 'node:crypto'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { isKeyFrozen, shareFreezes } from '../store/freezes.ts'
import type { IntentRef } from '../store/grants.ts'
import {
  insertDecision,
  type PolicyRow,
  policiesOver,
  rulesOfVersions,
  setReleased,
  spentSince,
} from '../store/policies.ts'
import type { CustodyCtx, Signatory } from '../types.ts'
import { countedBy, denialOf, type Spend, spendsOf } from './evaluate.ts'
import type { Operation } from './operation.ts'
import { type Compiled, compileRules, type Limit } from './rules.ts'

export type DecisionRequest = {
  /** The transaction, or a fresh id where a request is signed at once. */
  intentId: string
  /** What the signature will be for: the intent's canonical bytes, or the 32-byte digest where it is signed at once. */
  intent: Buffer
  operation: Operation
}

declare const decided: unique symbol

/** That policy allows one intent to be signed. Only `decide` makes one; it is good once, in the `tx` that made it. */
export type Decision = {
  readonly [decided]: true
  readonly id: string
  readonly entityId: string
  readonly walletId: string
  readonly keyId: string
  readonly intentId: string
  readonly intent: Buffer
}

const unused = new WeakMap<Decision, Db>()

/** Uses the decision up; throws when it was not made here, in this `tx`, or was used before. */
export function useDecision(tx: Db, decision: Decision): void {
  const madeIn = unused.get(decision)
  unused.delete(decision)
  if (madeIn !== tx) throw new Error('a decision of policy is good once, in the tx that made it')
}

/**
 * Decides in `ctx.db`'s tx whether `wallet` may be signed for, and reserves what leaves.
 * Throws `policyDenied` with the rule and the remedy, `walletFrozen` when the wallet or its entity is frozen.
 */
export async function decide(
  ctx: CustodyCtx,
  wallet: Signatory,
  { intentId, intent, operation }: DecisionRequest,
): Promise<Decision> {
  const { db } = ctx
  const entityId = ctx.entity.id
  await requireNotFrozen(db, entityId, wallet, operation)
  const spends = spendsOf(operation)
  let policies = await allowing(ctx, wallet, operation, false)
  if (policies.some(({ rules }) => windowsOf(rules, spends).length > 0)) {
    policies = await allowing(ctx, wallet, operation, true)
    await requireRoom(ctx, wallet, policies, spends)
  }
  const id = newId(ctx.clock.nowMs())
  const row = {
    entityId,
    id,
    intentId,
    wallet,
    operation: operation.kind,
    intentSha256: createHash('sha256').update(intent).digest(),
    versionIds: policies.map(({ versionId }) => versionId),
    createDate: formatInstant(ctx.clock.nowMs()),
  }
  await insertDecision(db, row, spends)
  const decision = { id, entityId, walletId: wallet.id, keyId: wallet.keyId, intentId, intent } as Decision
  unused.set(decision, db)
  return decision
}

/** What a worker signs later is held back then; what is signed at once must see a freeze that is being made. */
async function requireNotFrozen(db: Db, entityId: string, wallet: Signatory, operation: Operation) {
  const atOnce = isSignedAtOnce(operation)
  if (atOnce) await shareFreezes(db, [entityId])
  const frozen = atOnce ? await isKeyFrozen(db, entityId, wallet.address) : wallet.state === 'FROZEN'
  if (frozen) throw new ApiError('walletFrozen')
}

/** Whoever asked holds the signature, and may use it wherever it is good. */
const isSignedAtOnce = ({ kind }: Operation) =>
  kind !== 'transfer' && kind !== 'contractExecution' && kind !== 'sweep'

type Policy = PolicyRow & { rules: Compiled }

/** The policies over the wallet, all of which allow the operation as far as it is looked at alone. */
async function allowing(
  ctx: CustodyCtx,
  wallet: Signatory,
  operation: Operation,
  lock: boolean,
): Promise<Policy[]> {
  const { db, entity } = ctx
  const rows = await policiesOver(db, entity.id, wallet, { everywhere: isSignedAtOnce(operation), lock })
  if (rows.length === 0) {
    const remedy = `Choose one with: bezant policy set --entity ${entity.id} --policy permissive|FILE`
    throw new ApiError('policyDenied', `There is no policy, and without one nothing is signed. ${remedy}`)
  }
  const compiled = await compiledOf(db, entity.id, rows)
  const policies = rows.map((row, index) => ({ ...row, rules: compiled[index]! }))
  for (const policy of policies) {
    const reason = denialOf(policy.rules, operation)
    if (reason) throw denied(ctx, wallet, policy, reason)
  }
  return policies
}

const flags = { entity: 'entity', walletSet: 'wallet-set', wallet: 'wallet' } as const
const subjects = { entity: 'entity', walletSet: 'wallet set', wallet: 'wallet' } as const

function denied(ctx: CustodyCtx, wallet: Signatory, policy: PolicyRow, reason: string): ApiError {
  const { scope, subjectId, version } = policy
  ctx.log.warn(
    { entityId: ctx.entity.id, walletId: wallet.id, actor: ctx.actor, scope, subjectId, version, reason },
    'denied by policy',
  )
  const entity = scope === 'entity' ? '' : ` --entity ${ctx.entity.id}`
  const where = `the policy of the ${subjects[scope]} ${subjectId} (version ${version})`
  const remedy = `To allow it, change that policy with: bezant policy set${entity} --${flags[scope]} ${subjectId}`
  return new ApiError('policyDenied', `Denied by ${where}: ${reason}. ${remedy} --policy FILE`)
}

/** Versions never change, so what was compiled once stays right. */
const compiledVersions = new Map<string, Compiled>()
const compiledMax = 1_000

async function compiledOf(db: Db, entityId: string, rows: readonly PolicyRow[]): Promise<Compiled[]> {
  const ids = rows.map(({ versionId }) => versionId)
  // Kept from now on: another request may empty the cache while this one reads.
  const known = ids.map((id) => compiledVersions.get(id))
  const missing = ids.filter((_, index) => !known[index])
  const found = missing.length > 0 ? await rulesOfVersions(db, entityId, missing) : []
  const fresh = new Map(found.map(({ id, rules }) => [id, compileRules(rules)]))
  const compiled = ids.map((id, index) => known[index] ?? fresh.get(id)!)
  if (compiledVersions.size + fresh.size > compiledMax) compiledVersions.clear()
  for (const [id, rules] of fresh) compiledVersions.set(id, rules)
  return compiled
}

type Window = { limit: Limit; index: number; amountAtomic: bigint; seconds: number; capAtomic: bigint }

/** The rolling limits that what leaves counts against. */
function windowsOf(rules: Compiled, spends: readonly Spend[]): Window[] {
  if (rules.mode === 'permissive') return []
  return rules.limits.flatMap((limit, index) => {
    const counted = countedBy(limit, spends)
    if (counted === undefined) return []
    return limit.windows.map(({ seconds, amountAtomic: capAtomic }) => ({
      limit,
      index,
      amountAtomic: counted,
      seconds,
      capAtomic,
    }))
  })
}

/** Under the lock: the sums see every decision that was made before. */
async function requireRoom(
  ctx: CustodyCtx,
  wallet: Signatory,
  policies: readonly Policy[],
  spends: readonly Spend[],
): Promise<void> {
  const { db, entity, clock } = ctx
  for (const policy of policies) {
    for (const { limit, index, amountAtomic, seconds, capAtomic } of windowsOf(policy.rules, spends)) {
      const sinceDate = formatInstant(clock.nowMs() - seconds * 1_000)
      const spent = await spentSince(db, entity.id, policy, limit.tokens, sinceDate)
      if (spent + amountAtomic <= capAtomic) continue
      const reason = `limits[${index}] allows ${capAtomic} in ${seconds} s, of which ${spent} are taken; this is ${amountAtomic}`
      throw denied(ctx, wallet, policy, reason)
    }
  }
}

/** Gives back what intents that came to nothing had reserved, in the `tx` that ends them. */
export async function releaseAllowance(tx: Db, nowMs: number, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await setReleased(tx, intents, formatInstant(nowMs))
}

/** Counts again what was given back, whatever the limits say: after a reorg these intents are on their way once more. */
export async function reserveAllowanceAgain(tx: Db, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await setReleased(tx, intents, null)
}

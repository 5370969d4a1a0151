/**
 * Policy before signature. A decision is made in the `tx` that accepts a request, and all signing for a wallet requires one.
 * Every policy over the wallet (entity, wallet set, wallet) must allow the operation; without any policy it is denied.
 * Rolling limits are counted under a lock on the policies' rows and reserved in the same `tx`, so that they hold for
 * concurrent requests; requests that end without effect release their reservations.
 */
import { createHash } from 'node:crypto'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { oncePer } from '#runtime/scheduling/memoize'
import type { EntityScope } from '#runtime/scope'
import type { CustodyScope } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import { isKeyFrozen, shareFreezes } from '../store/freezes.ts'
import type { IntentRef } from '../store/grants.ts'
import { findManaged } from '../store/managed-addresses.ts'
import {
  type DecisionRow,
  insertDecision,
  type PolicyRow,
  policiesOver,
  rulesOfVersions,
  setReleased,
  spentSince,
} from '../store/policies.ts'
import { type NonceRef, payloadsOf } from '../store/signatures.ts'
import type { KeyFamily, Signatory } from '../wallets/types.ts'
import { countedBy, denialOf, type Spend, spendsOf } from './evaluate.ts'
import type { Operation } from './operation.ts'
import { type Compiled, compileRules, type Limit } from './rules.ts'

type DecisionRequest = {
  /** Id of the transaction, or a fresh id where a request is signed at once. */
  intentId: string
  /** The content to sign: the intent's canonical bytes, or the payload where it is signed at once. */
  intent: Buffer
  operation: Operation
}

type DecisionEvidence = { decisionId: string; operation: string; policyVersions: readonly string[] }

declare const decided: unique symbol

/** The permission of policy to sign one intent. It is valid once, in the `tx` in which `decidePolicy` or `repeatDecision` made it. */
export type Decision = {
  readonly [decided]: true
  readonly id: string
  readonly entityId: string
  readonly walletId: string
  readonly keyId: string
  readonly intentId: string
  readonly intent: Buffer
  /** The data about this decision for the audit entry of the request. */
  readonly evidence: DecisionEvidence
}

const unused = new WeakMap<Decision, Db>()

/** Uses up the decision, before a signature or a grant. Throws when it was made elsewhere, in another `tx`, or was used before. */
export function useDecision(tx: Db, decision: Decision): void {
  const madeIn = unused.get(decision)
  unused.delete(decision)
  if (madeIn !== tx) throw new Error('a decision of policy is good once, in the tx that made it')
}

/**
 * Decides in `ctx.db`'s tx whether to sign for `wallet`, and reserves the outgoing amounts of the operation against the limits.
 * Throws `policyDenied` with the rule and the remedy, `walletFrozen` when the wallet or its entity is frozen.
 */
export async function decidePolicy(
  ctx: EntityScope,
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
  return decisionOf(db, row, { keyId: wallet.keyId, intent })
}

/** Makes the permission that this row records. */
function decisionOf(
  db: Db,
  { entityId, id, intentId, wallet, operation, versionIds }: DecisionRow,
  { keyId, intent }: { keyId: string; intent: Buffer },
): Decision {
  const evidence: DecisionEvidence = { decisionId: id, operation, policyVersions: versionIds }
  const decision = { id, entityId, walletId: wallet.id, keyId, intentId, intent, evidence } as Decision
  unused.set(decision, db)
  return decision
}

/** An intent, and the payload that a key of this family signed for it. */
export type SignedIntent = NonceRef & { intentId: string; intent: Buffer; payload: Buffer; family: KeyFamily }

/**
 * Makes, in `ctx.db`'s tx, the decision again on an intent of which a restored database has only the signed payload: its entry in
 * the signing ledger proves that policy allowed it. No rule applies again, and its amounts are reserved already. Returns `undefined`
 * where the ledger has no such entry, or this database has no key of the sender.
 */
export async function repeatDecision(ctx: CustodyScope, signed: SignedIntent): Promise<Decision | undefined> {
  const { db } = ctx
  const { entityId, intentId, intent, blockchain, address } = signed
  const digest = familyOfKey(signed).digestOf(signed.payload)
  const payloads = await payloadsOf(db, [signed])
  if (!payloads.some((row) => row.intentId === intentId && !row.noop && row.digest.equals(digest)))
    return undefined
  const signer = await findManaged(db, entityId, blockchain, address)
  if (!signer?.keyId) return undefined
  const row = {
    entityId,
    id: newId(ctx.clock.nowMs()),
    intentId,
    // The set is where spending counts, and this decision adds none.
    wallet: { id: signer.ownerId, walletSetId: signer.ownerId },
    operation: 'repeated',
    intentSha256: createHash('sha256').update(intent).digest(),
    versionIds: [],
    createDate: formatInstant(ctx.clock.nowMs()),
  }
  await insertDecision(db, row, [])
  return decisionOf(db, row, { keyId: signer.keyId, intent })
}

/** Refuses frozen wallets. A worker checks again before it signs later; signing at once must see a concurrent freeze here. */
async function requireNotFrozen(db: Db, entityId: string, wallet: Signatory, operation: Operation) {
  const atOnce = isSignedAtOnce(operation)
  if (atOnce) await shareFreezes(db, [entityId])
  const frozen = atOnce ? await isKeyFrozen(db, entityId, wallet.address) : wallet.state === 'FROZEN'
  if (frozen) throw new ApiError('walletFrozen')
}

/** Whether the caller receives the signature, and may use it on any chain where it is valid. */
const isSignedAtOnce = ({ kind }: Operation) => !sentByWorkers.has(kind)
/** Operations that a worker signs and sends later. */
const sentByWorkers: ReadonlySet<Operation['kind']> = new Set([
  'transfer',
  'contractExecution',
  'contractDeployment',
  'sweep',
])

type Policy = PolicyRow & { rules: Compiled }

/** Returns the policies over the wallet. Throws unless each allows the operation on its own, without the rolling limits. */
async function allowing(
  ctx: EntityScope,
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
  const compiled = await compiledOf(ctx, rows)
  const policies = rows.map((row, index) => ({ ...row, rules: compiled[index]! }))
  for (const policy of policies) {
    const reason = denialOf(policy.rules, operation)
    if (reason) throw denied(ctx, wallet, policy, reason)
  }
  return policies
}

const flags = { entity: 'entity', walletSet: 'wallet-set', wallet: 'wallet' } as const
const subjects = { entity: 'entity', walletSet: 'wallet set', wallet: 'wallet' } as const

function denied(ctx: EntityScope, wallet: Signatory, policy: PolicyRow, reason: string): ApiError {
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

type Window = { limit: Limit; index: number; amountAtomic: bigint; seconds: number; capAtomic: bigint }

/** Returns the rolling limits that the outgoing amounts count against. */
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

/** Checks the rolling limits, under the lock: the sums include every earlier decision. */
async function requireRoom(
  ctx: EntityScope,
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

/** Releases the reservations of intents that ended without effect, in the `tx` that ends them. */
export async function releaseAllowance(tx: Db, nowMs: number, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await setReleased(tx, intents, formatInstant(nowMs))
}

/** Restores released reservations, regardless of the limits: after a reorg these intents are in progress again. */
export async function reserveAllowanceAgain(tx: Db, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await setReleased(tx, intents, null)
}

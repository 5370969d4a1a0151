/**
 * Policy before signature. A decision is made in the `tx` that accepts a request, and all signing for a wallet requires one.
 * Every policy over the wallet (entity, wallet set, wallet) and over the API key that asks must allow the operation; without any
 * policy over the wallet it is denied.
 * Rolling limits are counted under a lock on the policies' rows and reserved in the same `tx`, so that they hold for
 * concurrent requests; requests that end without effect release their reservations.
 */
import { createHash } from 'node:crypto'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { apiKeyIdOf } from '#runtime/auth/actor'
import type { Db } from '#runtime/db/db'
import type { EntityScope } from '#runtime/scope'
import type { CustodyScope } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import { isKeyFrozen, shareFreezes } from '../store/freezes.ts'
import type { IntentRef } from '../store/grants.ts'
import { findManaged } from '../store/managed-addresses.ts'
import { type DecisionRow, insertDecision, setReleased } from '../store/policies.ts'
import { type NonceRef, payloadsOf } from '../store/signatures.ts'
import type { KeyFamily, Signatory } from '../wallets/types.ts'
import { hasWindows, spendsOf } from './evaluate.ts'
import { isSignedAtOnce, type Operation } from './operation.ts'
import {
  firstDenial,
  firstFull,
  noPolicyText,
  type Policy,
  type PolicyDenial,
  policiesFor,
} from './policies-over.ts'

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
  if (policies.some(({ rules }) => hasWindows(rules, spends))) {
    policies = await allowing(ctx, wallet, operation, true)
    // Under the lock, the sums include every earlier decision.
    refuse(ctx, wallet, await firstFull(ctx, policies, spends))
  }
  const id = newId(ctx.clock.nowMs())
  const row = {
    entityId,
    id,
    intentId,
    wallet,
    apiKeyId: apiKeyIdOf(ctx.actor),
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
    apiKeyId: undefined,
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

/** Returns the policies over the wallet. Throws unless each allows the operation on its own, without the rolling limits. */
async function allowing(
  ctx: EntityScope,
  wallet: Signatory,
  operation: Operation,
  lock: boolean,
): Promise<Policy[]> {
  const policies = await policiesFor(ctx, wallet, operation, { lock, apiKeyId: apiKeyIdOf(ctx.actor) })
  // The policy of a key restricts it, and permits nothing by itself.
  if (policies.every(({ scope }) => scope === 'apiKey'))
    throw new ApiError('policyDenied', noPolicyText(ctx.entity.id))
  refuse(ctx, wallet, firstDenial(policies, operation))
  return policies
}

function refuse(ctx: EntityScope, wallet: Signatory, denial: PolicyDenial | undefined): void {
  if (!denial) return
  const { scope, subjectId, version } = denial.policy
  const { reason } = denial
  ctx.log.warn(
    { entityId: ctx.entity.id, walletId: wallet.id, actor: ctx.actor, scope, subjectId, version, reason },
    'denied by policy',
  )
  const entity = ['entity', 'apiKey'].includes(scope) ? '' : ` --entity ${ctx.entity.id}`
  const where = `the policy of the ${subjects[scope]} ${subjectId} (version ${version})`
  const remedy = `To allow it, change that policy with: bezant policy set${entity} --${flags[scope]} ${subjectId}`
  throw new ApiError('policyDenied', `Denied by ${where}: ${reason}. ${remedy} --policy FILE`)
}

const flags = { entity: 'entity', walletSet: 'wallet-set', wallet: 'wallet', apiKey: 'key' } as const
const subjects = { entity: 'entity', walletSet: 'wallet set', wallet: 'wallet', apiKey: 'API key' } as const

/** Releases the reservations of intents that ended without effect, in the `tx` that ends them. */
export async function releaseAllowance(tx: Db, nowMs: number, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await setReleased(tx, intents, formatInstant(nowMs))
}

/** Restores released reservations, regardless of the limits: after a reorg these intents are in progress again. */
export async function reserveAllowanceAgain(tx: Db, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await setReleased(tx, intents, null)
}

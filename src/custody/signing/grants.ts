import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Custody, CustodyScope, KeyOpener } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import { WalletFrozen } from '../freezes/freeze.ts'
import { type Decision, useDecision } from '../policy/decide-policy.ts'
import { grantedKey, platformPrivateKey, walletPrivateKey } from '../sealing/contexts.ts'
import { type SealContext, type SealingKey, seal, withUnsealed } from '../sealing/sealing.ts'
import { shareFreezes } from '../store/freezes.ts'
import { deleteGrants, type FoundGrant, findGrants, type IntentRef, insertGrant } from '../store/grants.ts'
import { findKey, type KeyRow } from '../store/keys.ts'
import type { PayloadRow } from '../store/signatures.ts'
import { requireKeyOf } from './require-key.ts'
import { recordOperations, recordPayloads } from './signing-ledger.ts'

/**
 * Stores a grant in `ctx.db`'s tx, so that workers can sign for one intent after the request, without the entity secret or the
 * user. It is the private key of the address, sealed under the root key, and opens only for the same entity, intent, address and
 * intent bytes, until `eraseGrants`. Throws 156001 when `opener` may not open the key.
 */
export async function grantSigning(ctx: CustodyScope, opener: KeyOpener, decision: Decision): Promise<void> {
  const { entityId } = opener
  useDecision(ctx.db, decision)
  const key = await requireKeyOf(ctx.db, opener, decision)
  await storeGrant(ctx, decision, key, opener.walletKey, walletPrivateKey(entityId, key.id))
}

/** Stores a grant for a platform key, such as a treasury's. The root key alone opens it, so that no opener is needed. */
export async function grantPlatformSigning(ctx: CustodyScope, decision: Decision): Promise<void> {
  const { entityId, keyId } = decision
  useDecision(ctx.db, decision)
  const key = await findKey(ctx.db, entityId, keyId)
  if (key?.class !== 'platform') throw new Error(`there is no platform key ${keyId}`)
  await storeGrant(ctx, decision, key, ctx.custody.vault.root, platformPrivateKey(entityId, keyId))
}

async function storeGrant(
  ctx: CustodyScope,
  { id: decisionId, entityId, intentId, intent, walletId }: Decision,
  key: KeyRow,
  sealedUnder: SealingKey,
  sealedAs: SealContext,
): Promise<void> {
  const context = grantedKey(entityId, intentId, key.address, intent)
  const sealedKey = withUnsealed(sealedUnder, sealedAs, key.sealedPrivateKey, (privateKey) =>
    seal(ctx.custody.vault.root, context, privateKey),
  )
  const createDate = formatInstant(ctx.clock.nowMs())
  const { id: keyId, address } = key
  await insertGrant(ctx.db, {
    entityId,
    intentId,
    keyId,
    walletId,
    decisionId,
    address,
    sealedKey,
    createDate,
  })
}

/** One payload to sign with the grant of its intent. */
export type SigningRequest = IntentRef & {
  /** The intent bytes that policy decided on. */
  intent: Buffer
  /** The bytes to sign: a digest, or a message where keys of the family sign messages. */
  payload: Buffer
  /** The chain, nonce and fees that the payload contains; fees in wei per gas. */
  blockchain: string
  nonce: number
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
  /** The digest of the payload that was signed last for this nonce, which this one replaces; omitted for the first one. */
  replaces?: Buffer | undefined
  /** The time of the chain from which no block executes it, or the last height at which one can; absent where neither ends it. */
  expiresMs?: number | undefined
  lastHeight?: number | undefined
  /** The proof, as JSON, that what it replaces is dead: another expiry needs it. */
  deathProof?: string | undefined
  /** Whether the transaction has no effect and only uses up the nonce: such a one may replace a payload of another intent. */
  noop?: boolean | undefined
}

/** Number of signatures between two turns of the event loop. */
const burst = 128

/**
 * Records each payload in the signing ledger, in `tx`, and signs it with the grant of its intent. Returns the signatures in the
 * order of the requests. Returns none and throws `GrantMissing`, `SecondPayload` when another payload was signed for a nonce,
 * `WalletFrozen` when a wallet is frozen and the batch must wait, or `SealBroken` for other intent bytes than a grant's.
 */
export async function signForIntents(
  custody: Custody,
  tx: Db,
  requests: readonly SigningRequest[],
  nowMs: number,
): Promise<Buffer[]> {
  if (requests.length === 0) return []
  const grants = await usableGrants(tx, requests)
  const payloads = requests.map((request) => payloadOf(request, grants.get(keyOf(request))!))
  await recordPayloads(tx, payloads, nowMs)
  return signWithGrants(custody, requests, grants)
}

/** A user operation (ERC-4337) to sign; the account's contract executes at most one operation of an intent. */
type OperationSigningRequest = IntentRef & { intent: Buffer; payload: Buffer; blockchain: string }

/** Does the same as `signForIntents` for user operations, whose nonces the account's contract keeps instead of the signing ledger. */
export async function signOperations(
  custody: Custody,
  tx: Db,
  requests: readonly OperationSigningRequest[],
  nowMs: number,
): Promise<Buffer[]> {
  if (requests.length === 0) return []
  const grants = await usableGrants(tx, requests)
  const rows = requests.map(({ entityId, intentId, blockchain, payload }) => {
    const { address } = grants.get(keyOf({ entityId, intentId }))!
    return { entityId, intentId, blockchain, address, digest: payload }
  })
  await recordOperations(tx, rows, nowMs)
  return signWithGrants(custody, requests, grants)
}

/** Whether there is a grant to sign for the intent. */
export const hasGrant = async (db: Db, intent: IntentRef): Promise<boolean> =>
  (await findGrants(db, [intent])).length > 0

/** Thrown when an intent has no grant: it is final, was never accepted, or was restored from a journal. */
export class GrantMissing extends Error {}

type Grants = ReadonlyMap<string, FoundGrant>

/**
 * Returns the grant of each intent, and delays every freeze of these entities until the `tx` ends. Throws `WalletFrozen` when a
 * wallet is frozen already, and `GrantMissing`.
 */
async function usableGrants(tx: Db, requests: readonly IntentRef[]): Promise<Grants> {
  await shareFreezes(
    tx,
    requests.map(({ entityId }) => entityId),
  )
  const rows = await findGrants(tx, requests)
  const frozen = rows.find((row) => row.frozen)
  if (frozen) throw new WalletFrozen(`the wallet of intent ${frozen.intentId} is frozen: it waits`)
  const grants = new Map(rows.map((row) => [keyOf(row), row]))
  const missing = requests.find((request) => !grants.has(keyOf(request)))
  if (missing)
    throw new GrantMissing(
      `there is no grant to sign for intent ${missing.intentId}: a restored transaction gets one when it is accelerated or cancelled`,
    )
  return grants
}

async function signWithGrants(
  custody: Custody,
  requests: readonly OperationSigningRequest[],
  grants: Grants,
): Promise<Buffer[]> {
  failpoint('before-signature')
  const signatures: Buffer[] = []
  for (const [turn, { entityId, intentId, intent, payload }] of requests.entries()) {
    if (turn % burst === burst - 1) await new Promise((resume) => setImmediate(resume))
    const grant = grants.get(keyOf({ entityId, intentId }))!
    const context = grantedKey(entityId, intentId, grant.address, intent)
    const sign = (privateKey: Buffer) => familyOfKey(grant).sign(custody.signer, payload, privateKey)
    signatures.push(withUnsealed(custody.vault.root, context, grant.sealedKey, sign))
  }
  return signatures
}

const keyOf = ({ entityId, intentId }: IntentRef) => `${entityId}:${intentId}`

function payloadOf(request: SigningRequest, grant: FoundGrant): PayloadRow {
  const { entityId, intentId, blockchain, nonce, payload, maxFeeAtomic, priorityFeeAtomic } = request
  const { expiresMs, lastHeight, deathProof } = request
  return {
    entityId,
    intentId,
    address: grant.address,
    blockchain,
    nonce,
    digest: familyOfKey(grant).digestOf(payload),
    maxFeeAtomic,
    priorityFeeAtomic,
    noop: request.noop ?? false,
    replaces: request.replaces ?? null,
    expiresMs,
    lastHeight,
    deathProof,
  }
}

/** Erases the grants of intents that are final, in the `tx` that makes them final. */
export async function eraseGrants(tx: Db, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await deleteGrants(tx, intents)
}

import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { grantOf, walletPrivateKey } from './contexts.ts'
import type { Custody, EntitySecret } from './custody.ts'
import { seal, withUnsealed } from './sealing.ts'
import { deleteGrants, findGrants, type IntentRef, insertGrant } from './store/grants.ts'
import { findKey } from './store/keys.ts'
import type { CustodyCtx, Signature } from './types.ts'

/** `intent` is its canonical bytes: whoever signs later must show the same ones. */
export type Grant = { intentId: string; keyId: string; intent: Buffer }

/**
 * Leaves what workers need to sign for one intent without the entity secret: the key of one address, sealed under the
 * root key and bound to entity, intent, address and intent bytes. Written in `ctx.db`'s tx; erased by `eraseGrants`.
 */
export async function grantSigning(ctx: CustodyCtx, secret: EntitySecret, grant: Grant): Promise<void> {
  const { db, custody } = ctx
  const { entityId } = secret
  const key = await findKey(db, entityId, grant.keyId)
  if (key?.class !== 'wallet') throw new ApiError('walletNotFound')
  const context = grantOf(entityId, grant.intentId, key.address, grant.intent)
  const sealedKey = withUnsealed(
    secret.walletKey,
    walletPrivateKey(entityId, key.id),
    key.sealedPrivateKey,
    (privateKey) => seal(custody.vault.root, context, privateKey),
  )
  await insertGrant(db, {
    entityId,
    intentId: grant.intentId,
    keyId: key.id,
    address: key.address,
    sealedKey,
    createDate: formatInstant(ctx.clock.nowMs()),
  })
}

export type SigningRequest = IntentRef & { intent: Buffer; digest: Buffer }

/** After this many signatures the event loop gets a turn. */
const burst = 128

/**
 * One signature per request, in order. Throws when a grant is missing (the intent is final, or was never accepted),
 * and when it was made for other intent bytes: then nothing at all is signed.
 */
export async function signForIntents(
  custody: Custody,
  db: Db,
  requests: readonly SigningRequest[],
): Promise<Signature[]> {
  if (requests.length === 0) return []
  const rows = await findGrants(db, requests)
  const grants = new Map(rows.map((row) => [`${row.entityId}:${row.intentId}`, row]))
  const signatures: Signature[] = []
  for (const [turn, { entityId, intentId, intent, digest }] of requests.entries()) {
    if (turn % burst === burst - 1) await new Promise((resume) => setImmediate(resume))
    const grant = grants.get(`${entityId}:${intentId}`)
    if (!grant) throw new Error(`there is no grant to sign for intent ${intentId}`)
    const context = grantOf(entityId, intentId, grant.address, intent)
    const sign = (privateKey: Buffer) => custody.signer.sign(digest, privateKey)
    signatures.push(withUnsealed(custody.vault.root, context, grant.sealedKey, sign))
  }
  return signatures
}

/** Erases the grants of intents that are final, in the tx that makes them so. */
export async function eraseGrants(tx: Db, intents: readonly IntentRef[]): Promise<void> {
  if (intents.length > 0) await deleteGrants(tx, intents)
}

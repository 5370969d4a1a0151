import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Database, Db } from '#runtime/db/db'
import { installationId, recordChanges } from '#runtime/record/store'
import { webhookKey } from '../sealing/contexts.ts'
import { followNewest } from '../sealing/newest-key.ts'
import { openPrivateKey, publicBytesOf, sealPrivateKey } from '../sealing/sealed-keys.ts'
import type { Vault } from '../sealing/sealing.ts'
import {
  insertWebhookKey,
  lockWebhookKeys,
  newestWebhookKey,
  newestWebhookKeyId,
  type WebhookKeyRow,
} from './store/webhook-keys.ts'

type WebhookSignatures = {
  /** The id under which the public keys are served. */
  keyId: string
  /** ECDSA on P-256 with SHA-256 over the bytes of the body: ASN.1 DER as base64. */
  signature: string
  /** Ed25519 over id, timestamp and body, as the Standard Webhooks specification signs them; base64. */
  ed25519Signature: string
}

/** Signs webhooks of line v2 with keys that sign nothing else. */
export type WebhookSigner = {
  sign(webhook: { id: string; timestampSeconds: number; body: string }): Promise<WebhookSignatures>
  /** Returns the id of the keys that sign now. */
  keyId(): Promise<string>
}

/** Signs beside the event loop: many webhooks are signed at once. */
const signAside = promisify(sign)

type OpenKeys = { id: string; key: KeyObject; ed25519Key: KeyObject }

type RotationScope = { custody: { readonly vault: Vault }; db: Db; clock: { nowMs(): number } }
type SignerInput = { database: Database; vault: Vault; clock: { nowMs(): number } }

/** Opens the signer. Its keys are created with the first signature; new keys of other processes are used within two seconds. */
export function openWebhookSigner(input: SignerInput): WebhookSigner {
  const { database, vault, clock } = input
  const current = followNewest<OpenKeys>(clock, async (held) => {
    if (held && (await newestWebhookKeyId(database)) === held.id) return held
    const row = (await newestWebhookKey(database)) ?? (await database.tx((tx) => firstRow(tx, input)))
    return openRow(vault, row)
  })
  return {
    sign: async ({ id, timestampSeconds, body }) => {
      const { id: keyId, key, ed25519Key } = await current()
      const bytes = Buffer.from(body, 'utf8')
      const signed = Buffer.concat([Buffer.from(`${id}.${timestampSeconds}.`, 'utf8'), bytes])
      const [signature, ed25519Signature] = await Promise.all([
        signAside('sha256', bytes, key),
        signAside(null, signed, ed25519Key),
      ])
      return {
        keyId,
        signature: signature.toString('base64'),
        ed25519Signature: ed25519Signature.toString('base64'),
      }
    },
    keyId: async () => (await current()).id,
  }
}

async function firstRow(tx: Db, { vault, clock }: SignerInput): Promise<WebhookKeyRow> {
  await lockWebhookKeys(tx)
  const made = await newestWebhookKey(tx)
  if (made) return made
  const row = makeRow(vault, clock.nowMs())
  await insertWebhookKey(tx, row)
  await recordKey(tx, 'webhooks', row)
  return row
}

/**
 * Generates new keys, which sign from now on. The public keys of the former ones are still served: webhooks that they signed can arrive
 * later, and receivers may verify old ones again.
 */
export const rotateWebhookKeys = ({ custody, db, clock }: RotationScope): Promise<WebhookKeyRow> =>
  db.tx(async (tx) => {
    await lockWebhookKeys(tx)
    const former = await newestWebhookKey(tx)
    // The newest date decides which keys sign, also when a clock was put back.
    const nowMs = Math.max(clock.nowMs(), former ? Date.parse(former.createDate) + 1 : 0)
    const row = makeRow(custody.vault, nowMs)
    await insertWebhookKey(tx, row)
    await recordKey(tx, 'operator', row)
    return row
  })

const recordKey = (tx: Db, actor: string, { id, publicKey, ed25519PublicKey, createDate }: WebhookKeyRow) =>
  recordChanges(tx, Date.parse(createDate), [
    {
      entityId: installationId,
      actor,
      type: 'webhookKey.created',
      resourceId: id,
      data: { publicKey: publicKey.toString('hex'), ed25519PublicKey: ed25519PublicKey.toString('hex') },
    },
  ])

function makeRow(vault: Vault, nowMs: number): WebhookKeyRow {
  const id = newId(nowMs)
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ed25519Pair = generateKeyPairSync('ed25519')
  return {
    id,
    publicKey: publicBytesOf(pair.publicKey),
    sealedPrivateKey: sealPrivateKey(vault, webhookKey(id, 'P-256'), pair.privateKey),
    // The 32 bytes of the key end its SubjectPublicKeyInfo.
    ed25519PublicKey: publicBytesOf(ed25519Pair.publicKey).subarray(-32),
    sealedEd25519PrivateKey: sealPrivateKey(vault, webhookKey(id, 'Ed25519'), ed25519Pair.privateKey),
    createDate: formatInstant(nowMs),
  }
}

const openRow = (
  vault: Vault,
  { id, sealedPrivateKey, sealedEd25519PrivateKey }: WebhookKeyRow,
): OpenKeys => ({
  id,
  key: openPrivateKey(vault, webhookKey(id, 'P-256'), sealedPrivateKey),
  ed25519Key: openPrivateKey(vault, webhookKey(id, 'Ed25519'), sealedEd25519PrivateKey),
})

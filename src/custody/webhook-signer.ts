import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import { webhookKey } from './contexts.ts'
import { type SealContext, seal, type Vault, withUnsealed } from './sealing.ts'
import {
  insertWebhookKey,
  lockWebhookKeys,
  newestWebhookKey,
  type WebhookKeyRow,
} from './store/webhook-keys.ts'

export type WebhookSignatures = {
  /** The id under which the public keys are served. */
  keyId: string
  /** ECDSA on P-256 with SHA-256 over the bytes of the body: ASN.1 DER as base64. */
  signature: string
  /** Ed25519 over id, timestamp and body, as the Standard Webhooks specification signs them; base64. */
  ed25519Signature: string
}

/** Signs webhooks of this installation, with keys that sign nothing else. */
export type WebhookSigner = {
  sign(webhook: { id: string; timestampSeconds: number; body: string }): Promise<WebhookSignatures>
  /** The id of the keys that a webhook signed now names. */
  keyId(): Promise<string>
}

type OpenKeys = { id: string; key: KeyObject; ed25519Key: KeyObject }

export function openWebhookSigner(input: {
  database: Database
  vault: Vault
  clock: { nowMs(): number }
}): WebhookSigner {
  const { database, vault, clock } = input
  let held: Promise<OpenKeys> | undefined
  const current = (): Promise<OpenKeys> => {
    held ??= hold().catch((error) => {
      held = undefined
      throw error
    })
    return held
  }
  const hold = async (): Promise<OpenKeys> => {
    const row =
      (await newestWebhookKey(database)) ??
      (await database.tx(async (tx) => {
        await lockWebhookKeys(tx)
        const made = await newestWebhookKey(tx)
        if (made) return made
        const row = makeRow(vault, clock.nowMs())
        await insertWebhookKey(tx, row)
        return row
      }))
    return openRow(vault, row)
  }
  return {
    sign: async ({ id, timestampSeconds, body }) => {
      const { id: keyId, key, ed25519Key } = await current()
      const bytes = Buffer.from(body, 'utf8')
      const signed = Buffer.concat([Buffer.from(`${id}.${timestampSeconds}.`, 'utf8'), bytes])
      return {
        keyId,
        signature: sign('sha256', bytes, key).toString('base64'),
        ed25519Signature: sign(null, signed, ed25519Key).toString('base64'),
      }
    },
    keyId: async () => (await current()).id,
  }
}

function makeRow(vault: Vault, nowMs: number): WebhookKeyRow {
  const id = newId(nowMs)
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ed25519Pair = generateKeyPairSync('ed25519')
  return {
    id,
    publicKey: publicBytesOf(pair.publicKey),
    sealedPrivateKey: sealKey(vault, webhookKey(id, 'P-256'), pair.privateKey),
    // The 32 bytes of the key end its SubjectPublicKeyInfo.
    ed25519PublicKey: publicBytesOf(ed25519Pair.publicKey).subarray(-32),
    sealedEd25519PrivateKey: sealKey(vault, webhookKey(id, 'Ed25519'), ed25519Pair.privateKey),
    createDate: formatInstant(nowMs),
  }
}

const publicBytesOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })

function sealKey({ root }: Vault, context: SealContext, key: KeyObject): Buffer {
  const der = key.export({ type: 'pkcs8', format: 'der' })
  const sealed = seal(root, context, der)
  der.fill(0)
  return sealed
}

const openRow = (
  { root }: Vault,
  { id, sealedPrivateKey, sealedEd25519PrivateKey }: WebhookKeyRow,
): OpenKeys => {
  const keyOf = (der: Buffer) => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return {
    id,
    key: withUnsealed(root, webhookKey(id, 'P-256'), sealedPrivateKey, keyOf),
    ed25519Key: withUnsealed(root, webhookKey(id, 'Ed25519'), sealedEd25519PrivateKey, keyOf),
  }
}

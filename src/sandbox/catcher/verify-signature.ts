/**
 * Checks the signature of a caught message as its receiver has to: over the bytes that arrived, by the platform's public keys,
 * and by nothing that the message itself could choose. The rules are those of docs/notifications.md and docs/webhooks.md.
 */
import { createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto'
import { findSigningCertificate, findWebhookKey } from '#custody/installation/index'
import { isUuid } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import type { CaughtMessage, SignatureVerdict } from './inboxes.ts'

type SignedMessage = Pick<CaughtMessage, 'bytes' | 'rawHeaders' | 'own'>

const invalidBecause = (reason: string): SignatureVerdict => ({ state: 'invalid', reason })

/** `isOwn` says whether an address is one of this sandbox. */
export async function verifySignature(
  db: Db,
  message: SignedMessage,
  isOwn: (address: string) => boolean,
): Promise<SignatureVerdict> {
  const header = (name: string) => headerOf(message, name)
  if (header('x-circle-signature') !== undefined || header('webhook-signature') !== undefined)
    return verifyWebhook(db, message, header)
  const { envelope } = message.own ?? {}
  if (envelope?.['Signature'] !== undefined) return verifyEnvelope(db, envelope, isOwn)
  return {
    state: 'absent',
    reason:
      'The request has neither the headers X-Circle-Signature or webhook-signature, nor a body with a Signature.',
  }
}

/** The order in which the members of a v1 message are signed. */
const signedMembers = [
  'Message',
  'MessageId',
  'Subject',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
]

const hashes: Record<string, string> = { '1': 'sha1', '2': 'sha256' }

async function verifyEnvelope(
  db: Db,
  envelope: Record<string, string>,
  isOwn: (address: string) => boolean,
): Promise<SignatureVerdict> {
  const { SigningCertURL: address = '', Signature: signature = '', SignatureVersion: version = '' } = envelope
  if (!isOwn(address))
    return invalidBecause(
      'SigningCertURL is not an address of this server: whoever chose it can sign anything.',
    )
  const id = /\/v1\/notifications\/certificates\/([0-9a-f-]{36})\.pem$/.exec(address)?.[1]
  const found = id !== undefined && isUuid(id) ? await findSigningCertificate(db, id) : undefined
  if (!found) return invalidBecause('SigningCertURL names no certificate of this server.')
  const hash = hashes[version]
  if (hash === undefined) return invalidBecause('SignatureVersion is neither 1 nor 2.')
  const text = signedMembers
    .filter((name) => envelope[name] !== undefined)
    .map((name) => `${name}\n${envelope[name]}\n`)
    .join('')
  const key = new X509Certificate(found.certificate).publicKey
  if (!verify(hash, Buffer.from(text), key, Buffer.from(signature, 'base64')))
    return invalidBecause(
      'Signature does not match the members that it covers: one of them was changed, or another key signed it.',
    )
  return { state: 'valid', reason: 'Signature matches the certificate of SigningCertURL.' }
}

type ReadHeader = (name: string) => string | undefined

async function verifyWebhook(
  db: Db,
  { bytes }: SignedMessage,
  header: ReadHeader,
): Promise<SignatureVerdict> {
  const id = header('x-circle-key-id')
  if (id === undefined) return invalidBecause('The header X-Circle-Key-Id, which names the key, is missing.')
  const found = isUuid(id) ? await findWebhookKey(db, id) : undefined
  if (!found) return invalidBecause('X-Circle-Key-Id names no key of this server.')
  const [own, standard] = [header('x-circle-signature'), header('webhook-signature')]
  const ecdsaKey = createPublicKey({ key: found.publicKey, format: 'der', type: 'spki' })
  if (own !== undefined && !verify('sha256', bytes, ecdsaKey, Buffer.from(own, 'base64')))
    return invalidBecause(
      'X-Circle-Signature does not match the body: it was changed, or another key signed it.',
    )
  if (
    standard !== undefined &&
    !isStandardSignature(standard, signedOf(bytes, header), found.ed25519PublicKey)
  )
    return invalidBecause(
      'webhook-signature does not match webhook-id, webhook-timestamp and the body: one was changed, or another key signed them.',
    )
  const names = [own !== undefined && 'X-Circle-Signature', standard !== undefined && 'webhook-signature']
  return {
    state: 'valid',
    reason: `${names.filter(Boolean).join(' and ')} match${names.every(Boolean) ? '' : 'es'} the key of X-Circle-Key-Id.`,
  }
}

const signedOf = (bytes: Buffer, header: ReadHeader) =>
  Buffer.concat([Buffer.from(`${header('webhook-id') ?? ''}.${header('webhook-timestamp') ?? ''}.`), bytes])

/** The header may hold several signatures, separated by spaces; one that matches suffices. */
function isStandardSignature(text: string, signed: Buffer, publicKey: Buffer): boolean {
  const key = ed25519KeyOf(publicKey)
  return text.split(' ').some((each) => {
    const [version, signature = ''] = each.split(',')
    return version === 'v1a' && verify(null, signed, key, Buffer.from(signature, 'base64'))
  })
}

const ed25519KeyOf = (bytes: Buffer): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' })

function headerOf({ rawHeaders }: Pick<SignedMessage, 'rawHeaders'>, name: string): string | undefined {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name)
  return at < 0 ? undefined : rawHeaders[at + 1]
}

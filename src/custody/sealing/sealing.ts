import { createCipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { decrypt, nonceBytes, tagBytes } from './decrypt.ts'

// Wire format of everything sealed: version (1) | nonce (12) | AES-256-GCM ciphertext | tag (16).
// The key is HMAC-SHA256(sealing key, context): each context has its own, so random nonces never run out,
// and bytes moved to another row, entity or purpose do not open. The context is authenticated as well.

const version = 1

/** The identity of a sealed value: its purpose, entity, id and anything else. It opens for the same context only. */
export type SealContext = readonly [purpose: string, ...bound: string[]]

/** Thrown for a sealed value that does not open: the key is wrong, or the value was moved or changed. */
export class SealBroken extends Error {
  constructor(purpose: string) {
    super(`a sealed ${purpose} does not open: the key is another one, or the value was moved or changed`)
  }
}

/** Encrypts `plain` for a context under a key of 32 bytes; returns the bytes of the format above. */
export function seal(key: KeyObject, context: SealContext, plain: Uint8Array): Buffer {
  const bound = encode(context)
  const nonce = randomBytes(nonceBytes)
  const cipher = withContextKey(key, bound, (own) => createCipheriv('aes-256-gcm', own, nonce))
  cipher.setAAD(bound)
  return Buffer.concat([Buffer.of(version), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Returns the plain bytes, which the caller wipes. Throws `SealBroken`. */
export function unseal(key: KeyObject, context: SealContext, sealed: Buffer): Buffer {
  const bound = encode(context)
  if (sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== version) throw new SealBroken(context[0])
  const nonce = sealed.subarray(1, 1 + nonceBytes)
  const plain = withContextKey(key, bound, (own) =>
    decrypt(own, nonce, bound, sealed.subarray(1 + nonceBytes)),
  )
  if (!plain) throw new SealBroken(context[0])
  return plain
}

/** Runs `work`, which must not be asynchronous, with the plain bytes, and wipes them afterwards. Throws `SealBroken`. */
export function withUnsealed<Result>(
  key: KeyObject,
  context: SealContext,
  sealed: Buffer,
  work: (plain: Buffer) => Result,
): Result {
  const plain = unseal(key, context, sealed)
  try {
    return work(plain)
  } finally {
    plain.fill(0)
  }
}

/** Returns 32 bytes that are always the same for a key and a context, and that nothing reveals without the key. */
export const deriveBytes = (key: KeyObject, context: SealContext): Buffer => contextKey(key, encode(context))

/** Encodes every part with its length in front, so that no two contexts have the same bytes. */
function encode(context: SealContext): Buffer {
  const parts = context.flatMap((part) => {
    const bytes = Buffer.from(part, 'utf8')
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat([Buffer.of(version), ...parts])
}

const contextKey = (key: KeyObject, bound: Buffer): Buffer => createHmac('sha256', key).update(bound).digest()

/** Runs `work` with the context's key and wipes it. The cipher that `work` makes holds a copy, which OpenSSL wipes. */
function withContextKey<Result>(key: KeyObject, bound: Buffer, work: (own: Buffer) => Result): Result {
  const own = contextKey(key, bound)
  try {
    return work(own)
  } finally {
    own.fill(0)
  }
}

/** Makes a key object of the bytes and wipes them; the object clears its own copy when it is collected. */
export function takeKey(bytes: Buffer): KeyObject {
  try {
    return createSecretKey(bytes)
  } finally {
    bytes.fill(0)
  }
}

/** 32 bytes of HKDF-SHA256 (RFC 5869). Node's own `hkdfSync` leaves a copy of `input` to the garbage collector. */
export function expand(input: Uint8Array, salt: Uint8Array, info: string): Buffer {
  const extracted = createHmac('sha256', salt).update(input).digest()
  try {
    return createHmac('sha256', extracted).update(info).update(Buffer.of(1)).digest()
  } finally {
    extracted.fill(0)
  }
}

/** Keys derived from the root key: it is never used directly, only through keys with one use each. */
export type Vault = {
  /** Seals values that open without the entity secret: transport keys, platform keys, grants, recovery files. */
  root: KeyObject
  /** Returns the key that seals an entity's wallet keys. It depends on the root key and the entity secret. */
  walletKeyOf(entityId: string, secret: Buffer): KeyObject
  /** Returns 32 bytes to store, with which an entity secret can be verified and nothing be opened. */
  checkValueOf(entityId: string, secret: Buffer): Buffer
}

/** Derives these keys from the root key. Throws unless it has 32 bytes. */
export function openVault(rootKey: Buffer): Vault {
  if (rootKey.length !== 32) throw new Error('the root key must be 32 bytes')
  const salt = expand(rootKey, Buffer.alloc(0), 'bezant entity secret salt 1')
  return {
    root: takeKey(expand(rootKey, Buffer.alloc(0), 'bezant root sealing 1')),
    walletKeyOf: (entityId, secret) => takeKey(expand(secret, salt, `bezant wallet keys 1 ${entityId}`)),
    checkValueOf: (entityId, secret) => expand(secret, salt, `bezant entity secret check 1 ${entityId}`),
  }
}

import { createCipheriv, createHmac, createSecretKey, KeyObject, randomBytes } from 'node:crypto'
import { decrypt, nonceBytes, tagBytes } from './decrypt.ts'
import { type RootKeys, type RootKeyVersion, rootKeysOf } from './root-keys.ts'

// Wire format of everything sealed: head | nonce (12) | AES-256-GCM ciphertext | tag (16). The head is the byte 1, for version 1 of
// the root key and for every other key; or the byte 2 and the version of the root key (2, big-endian). `root_key_version` of the
// database reads it. The key is HMAC-SHA256(sealing key, context): each context has its own, so random nonces never run out, and
// bytes moved to another row, entity or purpose do not open. The context is authenticated as well.

const unnamed = 1
const named = 2
const namedBytes = 3

/** The key of an owner's wallet keys, `inner`, within the root key: with version 2 and later, an outer layer lies around the inner one. */
export type WalletKey = { outer: RootKeys; inner: KeyObject }

/** The keys that seal values: a key of 32 bytes, the root key in its versions, or the two layers of wallet keys. */
export type SealingKey = KeyObject | RootKeys | WalletKey

/** The identity of a sealed value: its purpose, entity, id and anything else. It opens for the same context only. */
export type SealContext = readonly [purpose: string, ...bound: string[]]

/** Thrown for a sealed value that does not open: the key is wrong, or the value was moved or changed. */
export class SealBroken extends Error {
  constructor(purpose: string) {
    super(`a sealed ${purpose} does not open: the key is another one, or the value was moved or changed`)
  }
}

/** Encrypts `plain` for a context; returns the bytes of the format above. */
export function seal(key: SealingKey, context: SealContext, plain: Uint8Array): Buffer {
  if (key instanceof KeyObject) return encrypt(Buffer.of(unnamed), key, context, plain)
  if ('outer' in key) {
    const inner = seal(key.inner, context, plain)
    return key.outer.newest().version === 1 ? inner : seal(key.outer, layerOf(context), inner)
  }
  const { version, sealing } = key.newest()
  return encrypt(sealHeadOf(version), sealing, context, plain)
}

/** Returns the plain bytes, which the caller wipes. Throws `SealBroken`, `RootKeyUnknown` and `RootKeyRetired`. */
export function unseal(key: SealingKey, context: SealContext, sealed: Buffer): Buffer {
  if (!(key instanceof KeyObject) && 'outer' in key)
    return unseal(key.inner, context, innerOf(key.outer, context, sealed))
  const head = versionNamed(sealed)
  if (head === undefined || (key instanceof KeyObject && head.bytes !== 1)) throw new SealBroken(context[0])
  const opening = key instanceof KeyObject ? key : key.open(head.version).sealing
  const bound = encode(context)
  const body = sealed.subarray(head.bytes)
  if (body.length < nonceBytes + tagBytes) throw new SealBroken(context[0])
  const nonce = body.subarray(0, nonceBytes)
  const plain = withContextKey(opening, bound, (own) => decrypt(own, nonce, bound, body.subarray(nonceBytes)))
  if (!plain) throw new SealBroken(context[0])
  return plain
}

/** The inner layer of a wallet key. A value of before the first rotation has no other. */
const innerOf = (outer: RootKeys, context: SealContext, sealed: Buffer): Buffer =>
  sealed[0] === named ? unseal(outer, layerOf(context), sealed) : sealed

const layerOf = (context: SealContext): SealContext => ['outer layer', ...context]

/** The purpose of a value that is sealed under the root key; where it is a wallet key, that is its outer layer. */
export type SealedFor = { context: SealContext; isWalletKey?: boolean }

/** Opens what the root key alone opens: a value, or the inner layer of a wallet key. */
export const openUnderRoot = (root: RootKeys, { context, isWalletKey }: SealedFor, sealed: Buffer): Buffer =>
  isWalletKey ? Buffer.from(innerOf(root, context, sealed)) : unseal(root, context, sealed)

/** Seals again what `openUnderRoot` opened. A wallet key of before the first rotation gets its outer layer. */
export const sealUnderRoot = (root: RootKeys, { context, isWalletKey }: SealedFor, plain: Buffer): Buffer =>
  seal(root, isWalletKey ? layerOf(context) : context, plain)

function encrypt(head: Buffer, key: KeyObject, context: SealContext, plain: Uint8Array): Buffer {
  const bound = encode(context)
  const nonce = randomBytes(nonceBytes)
  const cipher = withContextKey(key, bound, (own) => createCipheriv('aes-256-gcm', own, nonce))
  cipher.setAAD(bound)
  return Buffer.concat([head, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** The head of values of a version. Version 1 names itself by no number, as values did before there were others. */
export const sealHeadOf = (version: number) =>
  version === 1 ? Buffer.of(unnamed) : Buffer.of(named, version >> 8, version & 0xff)

/** The version of the root key that a sealed value names, and the length of its head. */
function versionNamed(sealed: Buffer): { version: number; bytes: number } | undefined {
  if (sealed[0] === unnamed) return { version: 1, bytes: 1 }
  if (sealed[0] !== named || sealed.length < namedBytes) return undefined
  return { version: sealed.readUInt16BE(1), bytes: namedBytes }
}

/** Runs `work`, which must not be asynchronous, with the plain bytes, and wipes them afterwards. Throws `SealBroken`. */
export function withUnsealed<Result>(
  key: SealingKey,
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
  return Buffer.concat([Buffer.of(unnamed), ...parts])
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
export function expand(input: Uint8Array, salt: Uint8Array | KeyObject, info: string): Buffer {
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
  root: RootKeys
  /** The key of version 1, for good: values that have to stay the same are derived from it. */
  lasting: KeyObject
  /** Returns the key that seals an entity's wallet keys. It depends on the root key and the entity secret. */
  walletKeyOf(entityId: string, secret: Buffer): WalletKey
  /** Returns 32 bytes to store, with which an entity secret can be verified and nothing be opened. */
  checkValueOf(entityId: string, secret: Buffer): Buffer
}

/** The vault of an installation that knows one version of the root key, the first. */
export const openVault = (rootKey: Buffer): Vault => {
  const first = rootKeyVersionOf(rootKey, 1)
  return vaultOf(
    rootKeysOf([first], () => 1),
    first,
  )
}

/** The vault of these versions, of which `first` is version 1. */
export const vaultOf = (root: RootKeys, first: RootKeyVersion): Vault => {
  const derive = (secret: Buffer, info: string) => expand(secret, first.salt, info)
  return {
    root,
    lasting: first.sealing,
    walletKeyOf: (entityId, secret) => ({
      outer: root,
      inner: takeKey(derive(secret, `bezant wallet keys 1 ${entityId}`)),
    }),
    checkValueOf: (entityId, secret) => derive(secret, `bezant entity secret check 1 ${entityId}`),
  }
}

const noSalt = Buffer.alloc(0)

/** Derives the keys of a version from its root key. Throws unless it has 32 bytes. */
export function rootKeyVersionOf(rootKey: Buffer, version: number): RootKeyVersion {
  if (rootKey.length !== 32) throw new Error('the root key must be 32 bytes')
  return {
    version,
    sealing: takeKey(expand(rootKey, noSalt, 'bezant root sealing 1')),
    salt: takeKey(expand(rootKey, noSalt, 'bezant entity secret salt 1')),
    isRetired: false,
  }
}

/** 32 bytes by which a root key is recognised, and that open nothing. */
export const rootCheckValueOf = (rootKey: Buffer): Buffer =>
  expand(rootKey, noSalt, 'bezant root key check 1')

/** The first digits of a check value, for people to compare. */
export const checkFingerprintOf = (checkValue: Buffer): string => checkValue.toString('hex', 0, 8)

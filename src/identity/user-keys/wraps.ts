/**
 * A user's key is 32 random bytes, sealed once for each secret that opens it, in two layers: the inner key comes from the
 * user's secret, the outer one from the root key. A PIN or answers are stretched with a random secret of the user; that lies
 * under the root key, so a stolen database alone gives nothing to guess at.
 */
import { type KeyObject, randomBytes } from 'node:crypto'
import type { Vault } from '#custody/sealing/index'
import { expand, SealBroken, seal, takeKey, unseal } from '#custody/sealing/index'
import { userKeyInner, userKeyOuter, userSecret } from '../contexts.ts'
import type { SecretKind, UserRef, WrapRow } from '../store/user-keys.ts'
import type { Stretch, StretchCost } from './stretch.ts'

const keyBytes = 32
const saltBytes = 16

/** A secret that opens a wrap; `slot` is its device where it is a device's. */
export type Opener = { kind: SecretKind; slot: string; secret: Buffer }

export type Wrapping = { vault: Vault; user: UserRef; sealedSecret: Buffer; stretch: Stretch }

/** The key that a new user gets, and the secret that is mixed into everything that opens it. The caller wipes the key. */
export function newUserKey(vault: Vault, user: UserRef): { key: Buffer; sealedSecret: Buffer } {
  const secret = randomBytes(keyBytes)
  const sealedSecret = seal(vault.root, userSecret(user), secret)
  secret.fill(0)
  return { key: randomBytes(keyBytes), sealedSecret }
}

/** Seals the user's key for an opener. */
export async function wrapKey(
  at: Wrapping,
  { kind, slot, secret }: Opener,
  key: Buffer,
  cost: StretchCost,
): Promise<WrapRow> {
  const terms = isStretched(kind)
    ? { salt: randomBytes(saltBytes), memoryKib: cost.memoryKib, passes: cost.passes }
    : { salt: null, memoryKib: null, passes: null }
  const inner = seal(await innerKey(at, secret, terms), userKeyInner(at.user, kind, slot), key)
  const sealedKey = seal(at.vault.root, userKeyOuter(at.user, kind, slot), inner)
  return { kind, slot, sealedKey, ...terms }
}

/** The user's key, which the caller wipes; `undefined` when the secret is a wrong one. */
export async function unwrapKey(
  at: Wrapping,
  secret: Buffer,
  row: WrapRow & { kind: SecretKind },
): Promise<Buffer | undefined> {
  const { kind, slot } = row
  const inner = unseal(at.vault.root, userKeyOuter(at.user, kind, slot), row.sealedKey)
  const key = await innerKey(at, secret, row)
  try {
    return unseal(key, userKeyInner(at.user, kind, slot), inner)
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}

const isStretched = (kind: SecretKind) => kind === 'pin' || kind === 'answers'

/** Seals the user's key for logins: the root key alone opens it. */
export function wrapForLogin(
  { vault, user }: Pick<Wrapping, 'vault' | 'user'>,
  key: Buffer,
): WrapRow & { kind: 'login' } {
  const sealedKey = seal(vault.root, userKeyOuter(user, 'login', ''), key)
  return { kind: 'login', slot: '', sealedKey, salt: null, memoryKib: null, passes: null }
}

/** The user's key, for a login that was verified; the caller wipes it. */
export const unwrapForLogin = (
  { vault, user }: Pick<Wrapping, 'vault' | 'user'>,
  { sealedKey }: WrapRow & { kind: 'login' },
): Buffer => unseal(vault.root, userKeyOuter(user, 'login', ''), sealedKey)

type Terms = Pick<WrapRow, 'salt' | 'memoryKib' | 'passes'>

async function innerKey(
  { vault, user, sealedSecret, stretch }: Wrapping,
  secret: Buffer,
  { salt, memoryKib, passes }: Terms,
): Promise<KeyObject> {
  const pepper = unseal(vault.root, userSecret(user), sealedSecret)
  try {
    if (salt === null) return takeKey(expand(secret, pepper, 'bezant secret of a device 1'))
    return takeKey(await stretch({ secret, salt, pepper, cost: { memoryKib: memoryKib!, passes: passes! } }))
  } finally {
    pepper.fill(0)
  }
}

/** Whether a wrap was stretched at another cost than new ones are. */
export const isOutdated = (row: WrapRow, cost: StretchCost) =>
  row.memoryKib !== cost.memoryKib || row.passes !== cost.passes

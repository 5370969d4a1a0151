import { createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Vault } from '#custody/sealing/index'
import { followNewest, openPrivateKey, publicBytesOf, sealPrivateKey } from '#custody/sealing/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import { installationId, recordChanges } from '#runtime/record/store'
import { shareNext } from '#runtime/scheduling/memoize'
import { userTokenKey } from './contexts.ts'
import {
  insertUserTokenKey,
  listUserTokenKeys,
  lockUserTokenKeys,
  newestUserTokenKey,
  type UserTokenKeyRow,
} from './store/token-keys.ts'

export type SigningKey = { id: string; key: KeyObject }

/** The keys that sign the tokens of users and devices: RSA, and a new one each month. */
export type UserTokenKeys = {
  /** The key that signs now. Not for use inside a `tx`: it may have to be made first. */
  current(): Promise<SigningKey>
  /** The public key of this id, if its tokens can still be valid. */
  publicKey(id: string): Promise<KeyObject | undefined>
  /** The public keys whose tokens can still be valid, as JSON Web Keys, newest first. */
  published(): Promise<JsonWebKey[]>
}

const dayMs = 86_400_000
const signsMs = 30 * dayMs
/** The longest life of a token. */
export const tokenMaxMs = 14 * dayMs
/** A key counts as long as a token of its last day, and a day more for clocks that differ. */
const countsMs = signsMs + tokenMaxMs + dayMs
/** The size that every client of JWT accepts. */
const modulusLength = 2048

const makePair = promisify(generateKeyPair)

type KeysInput = { database: Database; vault: Vault; clock: { nowMs(): number } }

export function openUserTokenKeys(input: KeysInput): UserTokenKeys {
  const { database, vault, clock } = input
  const current = followNewest<SigningKey>(clock, async (held) => {
    const nowMs = clock.nowMs()
    const row = (await newestUserTokenKey(database, nowMs - signsMs)) ?? (await makeKey(input))
    if (held?.id === row.id) return held
    return { id: row.id, key: openPrivateKey(vault, userTokenKey(row.id), row.sealedPrivateKey) }
  })
  const known = new Map<string, { key: KeyObject; untilMs: number }>()
  const load = shareNext(async () => {
    const rows = await listUserTokenKeys(database, clock.nowMs() - countsMs)
    known.clear()
    for (const { id, publicKey, createDate } of rows)
      known.set(id, { key: publicKeyOf(publicKey), untilMs: Date.parse(createDate) + countsMs })
  })
  return {
    current,
    publicKey: async (id) => {
      if (!known.has(id)) await load()
      const found = known.get(id)
      return found && clock.nowMs() < found.untilMs ? found.key : undefined
    },
    published: async () => {
      const rows = await listUserTokenKeys(database, clock.nowMs() - countsMs)
      return rows.map(({ id, publicKey }) => ({
        ...publicKeyOf(publicKey).export({ format: 'jwk' }),
        kid: id,
        alg: 'RS256',
        use: 'sig',
      }))
    },
  }
}

const publicKeyOf = (der: Buffer) => createPublicKey({ key: der, format: 'der', type: 'spki' })

/** Makes a key in the thread pool; of several processes that make one at once, all use the first. */
async function makeKey({ database, vault, clock }: KeysInput): Promise<UserTokenKeyRow> {
  const pair = await makePair('rsa', { modulusLength })
  return database.tx(async (tx) => {
    await lockUserTokenKeys(tx)
    const nowMs = clock.nowMs()
    const made = await newestUserTokenKey(tx, nowMs - signsMs)
    if (made) return made
    const id = newId(nowMs)
    const row = {
      id,
      publicKey: publicBytesOf(pair.publicKey),
      sealedPrivateKey: sealPrivateKey(vault, userTokenKey(id), pair.privateKey),
      createDate: formatInstant(nowMs),
    }
    await insertUserTokenKey(tx, row)
    await recordChanges(tx, nowMs, [
      { entityId: installationId, actor: 'users', type: 'userTokenKey.created', resourceId: id },
    ])
    return row
  })
}

import { generateKeyPair, randomBytes, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { newId } from '#lib/ids'
import { succeedOnce } from '#lib/once'
import { formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import { createLanes } from './lanes.ts'
import { seal, unseal, type Vault } from './sealing.ts'
import {
  insertTransportKey,
  lockTransportKeys,
  newestPublicKey,
  type TransportKeyRow,
  transportKeys,
} from './store/transport-keys.ts'

const makePair = promisify(generateKeyPair)
const modulusBits = 4096
export const ciphertextBytes = modulusBits / 8
const algorithm = { name: 'RSA-OAEP', hash: 'SHA-256' } as const

/** Decryptions at once: as many as Node's own thread pool has threads. A key handle is locked while it is in use. */
const laneCount = 4
const waitingMax = 1_000

/** The RSA keys that clients encrypt the entity secret to. Decryption runs in Node's thread pool, never on the event loop. */
export type Transport = {
  /** The newest public key, PEM. */
  publicKey(): Promise<string>
  /** The plain bytes, or `undefined` when no key opens it; both take the same work. */
  decrypt(ciphertext: Buffer | undefined): Promise<Buffer | undefined>
  /** Makes a new key the public one; ciphertexts for the older ones are still taken. */
  rotate(): Promise<void>
  close(): void
}

type Handles = webcrypto.CryptoKey[]
type Input = { database: Database; vault: Vault; clock: { nowMs(): number } }

/**
 * Makes the first key pair when there is none, in the background: making one takes seconds, and only what needs it waits.
 * Throws when the root key is not the one the keys were sealed under.
 */
export async function openTransport(input: Input): Promise<Transport> {
  const { database, vault } = input
  const lanes = createLanes(laneCount, waitingMax)
  const known = new Map<string, Handles>()
  let closed = false
  /** Takes over the keys that are new in the database and returns them, newest first. */
  const load = async (): Promise<Handles[]> => {
    const fresh = (await transportKeys(database)).filter((row) => !known.has(row.id))
    const added = await Promise.all(fresh.map(async (row) => [row.id, await handlesOf(vault, row)] as const))
    for (const [id, handles] of added.toReversed()) known.set(id, handles)
    return added.map(([, handles]) => handles)
  }
  const ensure = async () => {
    await load()
    if (known.size > 0 || closed) return
    const made = await makeRow(input)
    if (closed) return
    await database.tx(async (tx) => {
      await lockTransportKeys(tx)
      if (!(await newestPublicKey(tx))) await insertTransportKey(tx, made)
    })
    await load()
  }
  await load()
  const whenReady = succeedOnce(ensure)
  whenReady().catch(() => undefined)
  return {
    publicKey: async () => {
      await whenReady()
      const row = await newestPublicKey(database)
      if (!row) throw new Error('there is no transport key')
      return row.publicKey
    },
    decrypt: async (ciphertext) => {
      await whenReady()
      const fits = ciphertext?.length === ciphertextBytes
      const bytes = fits ? ciphertext : randomBytes(ciphertextBytes)
      const plain = await lanes(async (lane) => {
        const tried = await firstOpened(newestFirst(known), lane, bytes)
        return tried ?? firstOpened(await load(), lane, bytes)
      })
      return fits ? plain : undefined
    },
    rotate: async () => {
      await insertTransportKey(database, await makeRow(input))
      await load()
    },
    close: () => void (closed = true),
  }
}

/** Keys are added to the map as they were made, oldest first. */
const newestFirst = (known: Map<string, Handles>) => [...known.values()].reverse()

async function firstOpened(
  keys: readonly Handles[],
  lane: number,
  bytes: Buffer,
): Promise<Buffer | undefined> {
  for (const handles of keys) {
    try {
      return Buffer.from(await webcrypto.subtle.decrypt({ name: algorithm.name }, handles[lane]!, bytes))
    } catch {
      // Another key's ciphertext and a forged one look the same: the next key decides.
    }
  }
  return undefined
}

const contextOf = (id: string) => ['transport key', id] as const

/** One handle for each lane, because a handle serves one decryption at a time. They cannot be exported. */
async function handlesOf(vault: Vault, row: TransportKeyRow): Promise<Handles> {
  const der = unseal(vault.root, contextOf(row.id), row.sealedPrivateKey)
  try {
    const lanes = Array.from({ length: laneCount })
    return await Promise.all(
      lanes.map(() => webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['decrypt'])),
    )
  } finally {
    der.fill(0)
  }
}

async function makeRow({ vault, clock }: Input): Promise<TransportKeyRow & { createDate: string }> {
  const pair = await makePair('rsa', {
    modulusLength: modulusBits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  const nowMs = clock.nowMs()
  const id = newId(nowMs)
  const sealedPrivateKey = seal(vault.root, contextOf(id), pair.privateKey)
  pair.privateKey.fill(0)
  return { id, publicKey: pair.publicKey, sealedPrivateKey, createDate: formatInstant(nowMs) }
}

import { generateKeyPair, randomBytes, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import { shareNext, succeedOnce } from '#runtime/scheduling/memoize'
import { transportKey } from './sealing/contexts.ts'
import { seal, unseal, type Vault } from './sealing/sealing.ts'
import {
  insertTransportKey,
  lockTransportKeys,
  newestPublicKey,
  type TransportKeyRow,
  transportKeys,
} from './store/transport-keys.ts'

const makePair = promisify(generateKeyPair)
const modulusBits = 4096
const ciphertextBytes = modulusBits / 8
const algorithm = { name: 'RSA-OAEP', hash: 'SHA-256' } as const

/** Concurrent decryptions: as many as Node's own thread pool has threads. A key handle is locked while it is in use. */
const laneCount = 4
const waitingMax = 1_000
const waitMs = 30_000

/** The RSA keys for which clients encrypt the entity secret. Decryption runs in Node's thread pool, never on the event loop. */
export type Transport = {
  /** The newest public key, PEM. */
  publicKey(): Promise<string>
  /**
   * Decrypts with each key, newest first, until `read` returns a result for the plain bytes, and returns it; `undefined` when none
   * does. The bytes are wiped afterwards. Every refusal takes the same steps, whatever its cause. `asker` is the id of the entity
   * in whose queue the decryption waits; throws `tooManyRequests` when that is full.
   */
  decrypt<Found>(asker: string, ciphertext: Buffer | undefined, read: Read<Found>): Promise<Found | undefined>
  /** Generates a new key, which clients use from now on; ciphertexts for older keys are still accepted. */
  rotate(): Promise<void>
  close(): void
}

/** Called for every key that was tried, without bytes where the key does not open the ciphertext. */
type Read<Found> = (plain: Buffer | undefined) => Found | undefined

type Handles = webcrypto.CryptoKey[]
type TransportInput = { database: Database; vault: Vault; clock: { nowMs(): number } }

/**
 * Loads the keys. Generates the first pair when there is none, in the background: that takes seconds, and only calls that
 * need it wait. Throws `SealBroken` when the keys were sealed under another root key.
 */
export async function openTransport(input: TransportInput): Promise<Transport> {
  const { database, vault } = input
  const lanes = createLanes({ count: laneCount, leavesRoom: false, waitingMax, waitMs, crowded })
  /** Key handles by id, oldest first. */
  const known = new Map<string, Handles>()
  let closed = false
  /** Loads the keys that are new in the database. */
  const load = shareNext(async () => {
    const fresh = (await transportKeys(database)).filter((row) => !known.has(row.id))
    const added = await Promise.all(fresh.map(async (row) => [row.id, await handlesOf(vault, row)] as const))
    for (const [id, handles] of added.toReversed()) known.set(id, handles)
  })
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
    decrypt: async (asker, ciphertext, read) => {
      await whenReady()
      const fits = ciphertext?.length === ciphertextBytes
      const bytes = fits ? ciphertext : randomBytes(ciphertextBytes)
      const readFitting: typeof read = (plain) => read(fits ? plain : undefined)
      const tried = new Set<Handles>()
      const tryKnown = async () => {
        const keys = [...known.values()].reverse().filter((handles) => !tried.has(handles))
        if (keys.length === 0) return undefined
        for (const handles of keys) tried.add(handles)
        return lanes.run(asker, (lane) => firstRead(keys, lane, bytes, readFitting))
      }
      const found = await tryKnown()
      if (found !== undefined) return found
      await load()
      return tryKnown()
    },
    rotate: async () => {
      await insertTransportKey(database, await makeRow(input))
      await load()
    },
    close: () => void (closed = true),
  }
}

const crowded = () =>
  new ApiError('tooManyRequests', 'Too many of your ciphertexts wait to be decrypted: try again in a moment.')

/** Returns the result of `read` for the first key that opens the bytes. */
async function firstRead<Found>(
  keys: readonly Handles[],
  lane: number,
  bytes: Buffer,
  read: Read<Found>,
): Promise<Found | undefined> {
  for (const handles of keys) {
    const plain = await open(handles[lane]!, bytes)
    try {
      const found = read(plain)
      if (found !== undefined) return found
    } finally {
      plain?.fill(0)
    }
  }
  return undefined
}

/** Decrypts the bytes. Another key's ciphertext and a forged one look the same: neither opens. */
async function open(key: webcrypto.CryptoKey, bytes: Buffer): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await webcrypto.subtle.decrypt({ name: algorithm.name }, key, bytes))
  } catch {
    return undefined
  }
}

/** One handle for each lane, because a handle serves one decryption at a time. They cannot be exported. */
async function handlesOf(vault: Vault, row: TransportKeyRow): Promise<Handles> {
  const der = unseal(vault.root, transportKey(row.id), row.sealedPrivateKey)
  try {
    const lanes = Array.from({ length: laneCount })
    return await Promise.all(
      lanes.map(() => webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['decrypt'])),
    )
  } finally {
    der.fill(0)
  }
}

async function makeRow({ vault, clock }: TransportInput): Promise<TransportKeyRow & { createDate: string }> {
  const pair = await makePair('rsa', {
    modulusLength: modulusBits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  const nowMs = clock.nowMs()
  const id = newId(nowMs)
  const sealedPrivateKey = seal(vault.root, transportKey(id), pair.privateKey)
  pair.privateKey.fill(0)
  return { id, publicKey: pair.publicKey, sealedPrivateKey, createDate: formatInstant(nowMs) }
}

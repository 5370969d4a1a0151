import { generateKeyPair, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import { messageToken, signingCertificateKey } from '../sealing/contexts.ts'
import type { RootKeyVersion } from '../sealing/root-keys.ts'
import { openPrivateKey, sealPrivateKey } from '../sealing/sealed-keys.ts'
import { deriveBytes, type Vault } from '../sealing/sealing.ts'
import { selfSignedCertificate } from './certificate.ts'
import {
  insertSigningCertificate,
  lockSigningCertificates,
  newestSigningCertificate,
  type SigningCertificateRow,
} from './store/signing-certificates.ts'

const makePair = promisify(generateKeyPair)
const signInThreadPool = promisify(sign)

const modulusBits = 2_048
const dayMs = 86_400_000
const validMs = 5 * 365 * dayMs
/** A certificate is replaced this long before it expires; the old one is still served. */
const renewMs = 90 * dayMs

/** Signs the notifications of line v1 with a key that signs nothing else. */
export type Notary = {
  /** Returns an RSA PKCS #1 v1.5 signature in base64, and the id of the certificate that verifies it. */
  sign(text: string, hash: 'sha1' | 'sha256'): Promise<{ signature: string; certificateId: string }>
  /** Returns the id of the certificate of the key that signs now. */
  certificateId(): Promise<string>
  /** Returns a token of 64 hexadecimal digits that only this installation can compute for a purpose and an id, so it stores none. */
  tokenOf(purpose: string, id: string): string
  /** The same, and those that former versions of the root key gave: they are in links that others keep. */
  tokensOf(purpose: string, id: string): readonly string[]
}

type Held = { id: string; key: KeyObject; notAfterMs: number }

/** Opens the notary. Its key is created with the first signature, and replaced before its certificate expires. */
export function openNotary(input: { database: Database; vault: Vault; clock: { nowMs(): number } }): Notary {
  const { database, vault, clock } = input
  let held: Promise<Held> | undefined
  const current = async (): Promise<Held> => {
    const known = await held?.catch(() => undefined)
    if (known && !isEnding(known.notAfterMs, clock.nowMs())) return known
    held = hold()
    return held
  }
  const hold = async (): Promise<Held> => {
    const row = await database.tx(async (tx) => {
      const before = await newestSigningCertificate(tx)
      if (before && !isEnding(Date.parse(before.notAfter), clock.nowMs())) return before
      await lockSigningCertificates(tx)
      const made = await newestSigningCertificate(tx)
      if (made && !isEnding(Date.parse(made.notAfter), clock.nowMs())) return made
      const row = await makeRow(vault, clock.nowMs())
      await insertSigningCertificate(tx, row)
      return row
    })
    const key = openPrivateKey(vault, signingCertificateKey(row.id), row.sealedPrivateKey)
    return { id: row.id, key, notAfterMs: Date.parse(row.notAfter) }
  }
  return {
    sign: async (text, hash) => {
      const { id, key } = await current()
      const signature = await signInThreadPool(hash, Buffer.from(text, 'utf8'), key)
      return { signature: signature.toString('base64'), certificateId: id }
    },
    certificateId: async () => (await current()).id,
    tokenOf: (purpose, id) => tokenUnder(vault.root.newest(), purpose, id),
    tokensOf: (purpose, id) => vault.root.known().map((version) => tokenUnder(version, purpose, id)),
  }
}

const tokenUnder = ({ sealing }: RootKeyVersion, purpose: string, id: string) =>
  deriveBytes(sealing, messageToken(purpose, id)).toString('hex')

const isEnding = (notAfterMs: number, nowMs: number) => nowMs > notAfterMs - renewMs

async function makeRow(vault: Vault, nowMs: number): Promise<SigningCertificateRow & { createDate: string }> {
  const { privateKey } = await makePair('rsa', { modulusLength: modulusBits })
  const id = newId(nowMs)
  // The clock of a receiver may be behind.
  const dates = { notBeforeMs: nowMs - dayMs, notAfterMs: nowMs + validMs }
  const certificate = selfSignedCertificate({ privateKey, name: 'Bezant notifications', ...dates })
  const sealedPrivateKey = sealPrivateKey(vault, signingCertificateKey(id), privateKey)
  const notAfter = formatInstant(dates.notAfterMs)
  return { id, certificate, sealedPrivateKey, notAfter, createDate: formatInstant(nowMs) }
}

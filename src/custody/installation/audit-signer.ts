import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { Db } from '#runtime/db/db'
import { openRootKeys } from '../root-key/open.ts'
import { auditHeadKey } from '../sealing/contexts.ts'
import { RootKeyClosed, type RootKeyVersion } from '../sealing/root-keys.ts'
import { deriveBytes, sealHeadOf, type Vault } from '../sealing/sealing.ts'
import { holdRootKey } from '../store/root-keys.ts'

/**
 * Signs the newest hashes of audit trails with Ed25519. The key is derived from the root key, so that write access to the database
 * alone is not enough to forge a trail.
 */
export type AuditSigner = {
  /** The public key that signs, and then those of former versions of the root key. */
  publicKeys(): readonly [AuditKey, ...AuditKey[]]
  /**
   * Returns a function that signs heads in the `tx`, with 64 bytes each. Throws `RootKeyClosed` in a process that slept through a rotation:
   * the newest head of a trail counts with the newest key alone.
   */
  signIn(tx: Db): Promise<(bytes: Buffer) => Buffer>
}

/** A public key of 32 bytes. A retired one counts for what it signed before, and never for the newest head of a trail. */
export type AuditKey = { publicKey: Buffer; isRetired: boolean }

/** PKCS #8 and SubjectPublicKeyInfo of an Ed25519 key (RFC 8410), up to the 32 bytes of the key. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Opens the signer. Its key is derived from the version of the root key that seals now. */
export function openAuditSigner({ root }: Pick<Vault, 'root'>): AuditSigner {
  const known = new Map<number, { key: KeyObject; publicKey: Buffer }>()
  const keysOf = (version: RootKeyVersion) => {
    const found = known.get(version.version) ?? deriveKeys(version)
    known.set(version.version, found)
    return found
  }
  const shown = (version: RootKeyVersion): AuditKey => ({
    publicKey: keysOf(version).publicKey,
    isRetired: version.isRetired,
  })
  return {
    publicKeys: () => {
      const newest = root.newest()
      const former = root.known().filter(({ version }) => version < newest.version)
      return [shown(newest), ...former.map(shown)]
    },
    signIn: async (tx) => {
      const newest = root.newest()
      if (!(await holdRootKey(tx, sealHeadOf(newest.version)))) throw new RootKeyClosed(newest.version)
      return (bytes) => sign(null, bytes, keysOf(newest).key)
    },
  }
}

/** The public keys of the installation, for a program that only verifies. */
export async function readAuditKeys(
  input: Parameters<typeof openRootKeys>[0],
): Promise<readonly [AuditKey, ...AuditKey[]]> {
  const { vault, close } = await openRootKeys(input)
  return Promise.resolve(openAuditSigner(vault).publicKeys()).finally(close)
}

function deriveKeys({ sealing }: RootKeyVersion) {
  const seed = deriveBytes(sealing, auditHeadKey)
  const der = Buffer.concat([pkcs8Prefix, seed])
  seed.fill(0)
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  der.fill(0)
  return { key, publicKey: createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32) }
}

/** Makes the key that `isAuditSignature` takes of the 32 bytes of a public key. */
export const auditVerifyingKey = (publicKey: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([spkiPrefix, publicKey]), format: 'der', type: 'spki' })

/** Whether the signature of the bytes was made with the private key of `key`. */
export const isAuditSignature = (key: KeyObject, bytes: Buffer, signature: Buffer): boolean =>
  verify(null, bytes, key, signature)

import { parseBase64 } from '#lib/base64'
import { recoveryFile } from '../sealing/contexts.ts'
import { rootKeysOf } from '../sealing/root-keys.ts'
import { SealBroken, seal, takeKey, unseal, type Vault, type WalletKey } from '../sealing/sealing.ts'

// A recovery file is base64 of: "BZNT" | version (1) | generation (4, big-endian) | sealed wallet-key encryption key.
// The server keeps no copy. It opens only together with the root key of the server that made it, in that version or a later one, for
// the entity it was made for, and only until the entity secret is rotated: then it is worthless. It does not contain the entity secret.

const magic = Buffer.from('BZNT')
const version = 1
const headerBytes = magic.length + 1 + 4
const fileBytesMax = 1_024

/** Makes the recovery file, base64, with which an entity that lost its secret can set a new one. */
export function makeRecoveryFile(
  vault: Vault,
  entityId: string,
  generation: number,
  { inner: walletKey }: WalletKey,
): string {
  const header = Buffer.alloc(headerBytes)
  magic.copy(header)
  header.writeUInt8(version, magic.length)
  header.writeUInt32BE(generation, magic.length + 1)
  const key = walletKey.export()
  try {
    return Buffer.concat([header, seal(vault.root, recoveryFile(entityId, generation), key)]).toString(
      'base64',
    )
  } finally {
    key.fill(0)
  }
}

/** Returns the wallet key in the file, or `undefined` when it is not this entity's file for this generation of its secret. */
export function openRecoveryFile(
  vault: Vault,
  entityId: string,
  generation: number,
  file: string,
): WalletKey | undefined {
  const bytes = parseBase64(file.trim())
  if (!bytes || bytes.length <= headerBytes || bytes.length > fileBytesMax) return undefined
  const known = bytes.subarray(0, magic.length).equals(magic) && bytes[magic.length] === version
  if (!known || bytes.readUInt32BE(magic.length + 1) !== generation) return undefined
  try {
    const sealed = bytes.subarray(headerBytes)
    const inner = takeKey(unseal(everKnown(vault), recoveryFile(entityId, generation), sealed))
    return { outer: vault.root, inner }
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}

/** Owners keep their files as long as they like, so those of retired versions of the root key open as well. */
const everKnown = ({ root }: Vault) =>
  rootKeysOf(
    root.known().map((each) => ({ ...each, isRetired: false })),
    () => root.newest().version,
  )

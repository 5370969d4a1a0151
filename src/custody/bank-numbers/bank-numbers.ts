import type { Custody } from '../custody.ts'
import { bankNumber, bankNumberFingerprint } from '../sealing/contexts.ts'
import { deriveBytes, seal, withUnsealed } from '../sealing/sealing.ts'

/** Seals the numbers of a linked bank account, as JSON, under the root key. */
export const sealBankNumbers = (
  { vault }: Custody,
  { entityId, id }: { entityId: string; id: string },
  numbers: Record<string, string>,
): Buffer => seal(vault.root, bankNumber(entityId, id), Buffer.from(JSON.stringify(numbers)))

/** Opens them again. Throws `SealBroken`. */
export const openBankNumbers = (
  { vault }: Custody,
  { entityId, id }: { entityId: string; id: string },
  sealed: Buffer,
): Record<string, string> =>
  withUnsealed(vault.root, bankNumber(entityId, id), sealed, (plain) => JSON.parse(plain.toString()))

/** A UUID that is the same for the same numbers of an entity. Without the root key, numbers cannot be tried against it. */
export function bankFingerprintOf(
  { vault }: Custody,
  entityId: string,
  numbers: Record<string, string>,
): string {
  const bytes = deriveBytes(vault.lasting, bankNumberFingerprint(entityId, Object.entries(numbers).flat()))
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

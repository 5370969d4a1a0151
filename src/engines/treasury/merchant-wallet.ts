import { createHash } from 'node:crypto'

/** The id of an entity's main wallet: sixteen digits, as clients expect, the same for ever and stored nowhere. */
export function merchantWalletIdOf(entityId: string): string {
  const digest = createHash('sha256').update(`main wallet of ${entityId.toLowerCase()}`).digest()
  return `1000${(digest.readBigUInt64BE() % 10n ** 12n).toString().padStart(12, '0')}`
}

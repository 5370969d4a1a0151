import { familyOfKey } from '../families/index.ts'
import type { KeyFamily } from '../wallets/types.ts'

/** The 32 bytes that identify a payload in records: itself where keys of the family sign digests, and its hash otherwise. */
export const ledgerDigest = (family: KeyFamily, payload: Buffer): Buffer =>
  familyOfKey({ family }).digestOf(payload)

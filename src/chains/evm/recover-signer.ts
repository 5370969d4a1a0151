import { recoverAddress } from 'viem'
import type { Hex } from '#lib/hex'
import { canonicalAddress } from '../addresses/canonical.ts'
import type { Address } from '../chain.ts'

/** The address whose key made the 65 bytes r, s and v (27 or 28) for the digest. Throws for bytes that no key makes. */
export const recoverSigner = async (digest: Hex, signature: Hex): Promise<Address> =>
  canonicalAddress(await recoverAddress({ hash: digest, signature }))

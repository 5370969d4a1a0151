import { recoverAddress } from 'viem'
import type { Hex } from '#lib/hex'
import { canonicalAddress } from '../addresses/canonical.ts'
import type { Address } from '../chain.ts'

/**
 * The address whose key signed the digest, in canonical form; undefined for bytes that are no signature. The contracts refuse
 * signatures with `s` in the upper half of the order and with another last byte than 27 or 28, and so does this.
 */
export async function recoverSigner(digest: Hex, signature: Hex): Promise<Address | undefined> {
  const parts = /^0x[0-9a-fA-F]{64}([0-9a-fA-F]{64})1[bBcC]$/.exec(signature)
  if (!parts || BigInt(`0x${parts[1]!}`) > halfOrder) return undefined
  try {
    return canonicalAddress(await recoverAddress({ hash: digest, signature })) as Address
  } catch {
    return undefined
  }
}

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

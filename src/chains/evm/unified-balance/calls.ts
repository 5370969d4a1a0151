import { encodeAbiParameters, encodeFunctionData, parseAbiParameters, recoverAddress } from 'viem'
import { type Hex, hexOf } from '#lib/hex'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../chain.ts'
import type { SignedBurn } from '../../crosschain/crosschain.ts'
import { gatewayMinterAbi } from './artifacts/gateway-minter.ts'
import { gatewayWalletAbi } from './artifacts/gateway-wallet.ts'

const burnParameters = parseAbiParameters('bytes[] intents, bytes[] signatures, uint256[][] fees')

/** The bytes that a burn signer signs (`payloadDigest`) and that `gatewayBurn` takes. */
export const burnPayload = (burns: readonly SignedBurn[]): Hex =>
  encodeAbiParameters(burnParameters, [
    burns.map(({ intents }) => hexOf(intents)),
    burns.map(({ signature }) => signature),
    burns.map(({ feesAtomic }) => feesAtomic),
  ])

/** The call of the wallet contract that burns; `signature` is the burn signer's, of 65 bytes. */
export const gatewayBurnCall = (payload: Hex, signature: Hex): Hex =>
  encodeFunctionData({ abi: gatewayWalletAbi, functionName: 'gatewayBurn', args: [payload, signature] })

/** The call of the minter contract that mints; `signature` is the attestation signer's, of 65 bytes. */
export const gatewayMintCall = (attestationPayload: Hex, signature: Hex): Hex =>
  encodeFunctionData({
    abi: gatewayMinterAbi,
    functionName: 'gatewayMint',
    args: [attestationPayload, signature],
  })

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

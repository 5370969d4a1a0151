import { encodeAbiParameters, encodeFunctionData, parseAbiParameters } from 'viem'
import { type Hex, hexOf } from '#lib/hex'
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

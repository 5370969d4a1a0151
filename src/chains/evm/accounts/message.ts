import { hashTypedData } from 'viem'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import { newestAccountContracts } from './deployed-contracts.ts'

/**
 * The 32 bytes that an owner of an account signs for the hash of a message, so that the account's `isValidSignature` accepts
 * it on this chain and nowhere else (ERC-1271). Accounts of all versions accept the same.
 */
export const accountMessageDigest = (chainId: number, account: Address, hash: Buffer): Buffer =>
  bytesOf(
    hashTypedData({
      domain: {
        name: 'Weighted Multisig Webauthn Plugin',
        version: '1.0.0',
        chainId,
        verifyingContract: newestAccountContracts.plugin,
        salt: `${account}${'0'.repeat(24)}` as Hex,
      },
      types: { CircleWeightedWebauthnMultisigMessage: [{ name: 'hash', type: 'bytes32' }] },
      primaryType: 'CircleWeightedWebauthnMultisigMessage',
      message: { hash: hexOf(hash) },
    }),
  )

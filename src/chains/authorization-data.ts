import type { Hex } from '#lib/hex'
import type { Address } from './addresses/types.ts'
import { type Blockchain, blockchainFacts } from './blockchains.ts'

/** The members of an authorization (EIP-3009), as wallets sign it and sellers pass it on: numbers are decimal texts. */
export type AuthorizationTerms = {
  from: Address
  to: Address
  value: string
  validAfter: string
  validBefore: string
  nonce: Hex
}

type AuthorizedToken = { blockchain: Blockchain; address: Address; name: string; version: string }

/** Typed data (EIP-712) of an authorization, for an operation that signs typed data. */
export const authorizationData = (token: AuthorizedToken, message: AuthorizationTerms) => ({
  domain: {
    name: token.name,
    version: token.version,
    chainId: blockchainFacts.find((each) => each.blockchain === token.blockchain)!.chainId,
    verifyingContract: token.address,
  },
  primaryType: 'TransferWithAuthorization',
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  message,
})

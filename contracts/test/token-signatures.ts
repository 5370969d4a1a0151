import { type Address, type Hex, keccak256, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { viemChain } from '#testing/platform/viem-chain'
import { tokenAddress } from './token-chain.ts'

export const domain = {
  name: 'USD Coin',
  version: '2',
  chainId: viemChain.id,
  verifyingContract: tokenAddress,
}
export type Domain = typeof domain

export type PermitMessage = {
  owner: Address
  spender: Address
  value: bigint
  nonce: bigint
  deadline: bigint
}
export type Authorization = {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

const authorizationFields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

const types = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export function signPermit(signer: PrivateKeyAccount, message: PermitMessage, changes: Partial<Domain> = {}) {
  return signer.signTypedData({ domain: { ...domain, ...changes }, types, primaryType: 'Permit', message })
}

export function signAuthorization(
  signer: PrivateKeyAccount,
  primaryType: 'TransferWithAuthorization' | 'ReceiveWithAuthorization',
  message: Authorization,
  changes: Partial<Domain> = {},
) {
  return signer.signTypedData({ domain: { ...domain, ...changes }, types, primaryType, message })
}

export function signCancellation(signer: PrivateKeyAccount, message: { authorizer: Address; nonce: Hex }) {
  return signer.signTypedData({ domain, types, primaryType: 'CancelAuthorization', message })
}

/** Domains that differ from the token's in one field each: what is signed in them must not count. */
export const otherDomains: [string, Partial<Domain>][] = [
  ['name', { name: 'USDC' }],
  ['version', { version: '1' }],
  ['chain', { chainId: 1 as Domain['chainId'] }],
  ['token', { verifyingContract: '0x00000000000000000000000000000000000000A1' as Address }],
]

/** A nonce of 32 bytes, different for each text. */
export function nonceOf(text: string): Hex {
  return keccak256(toHex(text))
}

/** The same signature with the other of the two s values, which the curve accepts and the token must not. */
export function malleated(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = toHex(order - BigInt(`0x${signature.slice(66, 130)}`), { size: 32 }).slice(2)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `0x${signature.slice(2, 66)}${s}${v}`
}

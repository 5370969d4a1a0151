/**
 * EIP-3009: the owner of a stablecoin signs a permission to take an amount of it, and another account pays the gas. Of its
 * two forms this is the one that only the payee can execute, so that no front-runner can make the payee's transaction fail.
 */
import { encodeAbiParameters, encodeFunctionData, keccak256, toBytes } from 'viem'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { TimedAuthorization } from '../../facets/authorizations.ts'
import type { Authorization } from '../../facets/gather.ts'
import type { Call, Signature } from '../../facets/payments.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import { splitSignature } from './signature.ts'

/** The two forms, which differ in their name alone. */
type AuthorizationForm = 'ReceiveWithAuthorization' | 'TransferWithAuthorization'

const typeHashOf = (form: AuthorizationForm): Hex =>
  keccak256(
    toBytes(
      `${form}(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)`,
    ),
  )
const typeHashes: Record<AuthorizationForm, Hex> = {
  ReceiveWithAuthorization: typeHashOf('ReceiveWithAuthorization'),
  TransferWithAuthorization: typeHashOf('TransferWithAuthorization'),
}
const members = [
  { type: 'bytes32' },
  { type: 'address' },
  { type: 'address' },
  { type: 'uint256' },
  { type: 'uint256' },
  { type: 'uint256' },
  { type: 'bytes32' },
] as const

/** The first four bytes of keccak256("DOMAIN_SEPARATOR()"). The separator is part of every digest signed for a token. */
export const domainSeparatorSelector = '0x3644e515'

/** Valid without a time limit: only the payee can use it, and only once, by its nonce. */
const validAfter = 0n
const validBefore = 2n ** 256n - 1n

/** The 32 bytes that `from` signs (EIP-712). */
export const authorizationDigest = (domainSeparator: Hex, authorization: Authorization): Buffer =>
  digestOfAuthorization(domainSeparator, 'ReceiveWithAuthorization', {
    ...authorization,
    validAfter,
    validBefore,
  })

/** The 32 bytes that the payer signs in either form. */
export function digestOfAuthorization(
  domainSeparator: Hex,
  form: AuthorizationForm,
  terms: TimedAuthorization,
): Buffer {
  const struct = encodeAbiParameters(members, [
    typeHashes[form],
    terms.from as Hex,
    terms.to as Hex,
    terms.amountAtomic,
    terms.validAfter,
    terms.validBefore,
    terms.nonce,
  ])
  const signed = Buffer.concat([
    Buffer.from('1901', 'hex'),
    bytesOf(domainSeparator),
    bytesOf(keccak256(struct)),
  ])
  return bytesOf(keccak256(hexOf(signed)))
}

/** The call by which the payee takes the coins. */
export function authorizedTransferCall(
  token: Address,
  { from, to, amountAtomic, nonce }: Authorization,
  signature: Signature,
): Call {
  const { r, s, yParity } = splitSignature(signature)
  const data = encodeFunctionData({
    abi: stablecoinAbi,
    functionName: 'receiveWithAuthorization',
    args: [from as Hex, to as Hex, amountAtomic, validAfter, validBefore, nonce, 27 + yParity, r, s],
  })
  return { to: token, valueAtomic: 0n, data }
}

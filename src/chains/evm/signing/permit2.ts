/** Permit2 with a witness: the payer signs whom a contract may pay, and any token will do that the payer has approved for it once. */
import { concatHex, encodeAbiParameters, encodeFunctionData, keccak256, toBytes } from 'viem'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Call } from '../../facets/payments.ts'
import type { PermitScheme, PermittedPayment } from '../../facets/permits.ts'
import { exactPermit2ProxyAbi } from '../infrastructure/artifacts/exact-permit2-proxy.ts'
import { uptoPermit2ProxyAbi } from '../infrastructure/artifacts/upto-permit2-proxy.ts'
import { recoverSigner } from './recover-signer.ts'

/** Permit2 has one address on every chain but those on which addresses depend on the code in another way. */
export const permit2Address = '0x000000000022d473030f116ddee9f6b43ac78ba3' as Address

/** The contracts that x402 names as the spenders of its schemes, at addresses which follow from their code. */
export const permitSpenders = {
  exact: '0x402085c248eea27d92e8b30b2c58ed07f9e20001',
  upto: '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002',
} as Record<PermitScheme, Address>

const typeHash = (type: string): Hex => keccak256(toBytes(type))
const permissions = 'TokenPermissions(address token,uint256 amount)'
const witnesses: Record<PermitScheme, string> = {
  exact: 'Witness(address to,uint256 validAfter)',
  upto: 'Witness(address to,address facilitator,uint256 validAfter)',
}
const permitHashOf = (scheme: PermitScheme) =>
  typeHash(
    `PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)${permissions}${witnesses[scheme]}`,
  )
const hashes = {
  domain: typeHash('EIP712Domain(string name,uint256 chainId,address verifyingContract)'),
  name: typeHash('Permit2'),
  permissions: typeHash(permissions),
  exact: { permit: permitHashOf('exact'), witness: typeHash(witnesses.exact) },
  upto: { permit: permitHashOf('upto'), witness: typeHash(witnesses.upto) },
}

/** The hash of a struct of EIP-712, whose members are words. */
const structHash = (type: Hex, ...members: readonly (Hex | bigint)[]): Hex =>
  keccak256(concatHex([type, ...members.map(wordOf)]))
const wordOf = (member: Hex | bigint): Hex =>
  typeof member === 'bigint'
    ? encodeAbiParameters([{ type: 'uint256' }], [member])
    : `0x${member.slice(2).padStart(64, '0')}`

function permitDigest(chainId: number, payment: PermittedPayment): Hex {
  const { token, to, validAfter, validBefore, nonce } = payment
  const { scheme, maxAtomic, sender } = payment.permit
  const witness = structHash(
    hashes[scheme].witness,
    to as Hex,
    ...(sender === undefined ? [] : [sender as Hex]),
    validAfter,
  )
  const permitted = structHash(hashes.permissions, token as Hex, maxAtomic)
  const spender = permitSpenders[scheme] as Hex
  const permit = structHash(hashes[scheme].permit, permitted, spender, nonce, validBefore, witness)
  const domain = structHash(hashes.domain, hashes.name, BigInt(chainId), permit2Address as Hex)
  return keccak256(concatHex(['0x1901', domain, permit]))
}

/** The account whose key signed a permit, with 27 or 28 as the last byte; contracts tell about signatures of their own. */
export const permitSigner = (
  chainId: number,
  payment: PermittedPayment,
  signature: Hex,
): Promise<Address | undefined> => recoverSigner(permitDigest(chainId, payment), signature)

/** The call that makes a permitted payment, after the approval of its payer where there is one. */
export function permittedPayment(payment: PermittedPayment, signature: Hex): Call & { to: Address } {
  const { from, to, validAfter, amountAtomic, permit } = payment
  const { scheme, sender, approval } = permit
  const terms = {
    permitted: { token: payment.token as Hex, amount: permit.maxAtomic },
    nonce: BigInt(payment.nonce),
    deadline: payment.validBefore,
  }
  const approved = approval && { value: permit.maxAtomic, ...approvalOf(approval) }
  const owner = from as Hex
  const data =
    scheme === 'exact'
      ? exactData([terms, owner, { to: to as Hex, validAfter }, signature], approved)
      : uptoData(
          [terms, amountAtomic, owner, { to: to as Hex, facilitator: sender as Hex, validAfter }, signature],
          approved,
        )
  return { to: permitSpenders[scheme], valueAtomic: 0n, data }
}

type PermitArgument = { permitted: { token: Hex; amount: bigint }; nonce: bigint; deadline: bigint }
type Approved = { value: bigint; deadline: bigint; v: number; r: Hex; s: Hex } | undefined

function exactData(
  args: readonly [PermitArgument, Hex, { to: Hex; validAfter: bigint }, Hex],
  approved: Approved,
): Hex {
  const abi = exactPermit2ProxyAbi
  return approved
    ? encodeFunctionData({ abi, functionName: 'settleWithPermit', args: [approved, ...args] })
    : encodeFunctionData({ abi, functionName: 'settle', args })
}

function uptoData(
  args: readonly [PermitArgument, bigint, Hex, { to: Hex; facilitator: Hex; validAfter: bigint }, Hex],
  approved: Approved,
): Hex {
  const abi = uptoPermit2ProxyAbi
  return approved
    ? encodeFunctionData({ abi, functionName: 'settleWithPermit', args: [approved, ...args] })
    : encodeFunctionData({ abi, functionName: 'settle', args })
}

function approvalOf({ validBefore, signature }: { validBefore: bigint; signature: Hex }) {
  const bytes = bytesOf(signature)
  const [r, s] = [hexOf(bytes.subarray(0, 32)), hexOf(bytes.subarray(32, 64))]
  return { deadline: validBefore, v: bytes[64]!, r, s }
}

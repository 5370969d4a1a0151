/**
 * User operations of EntryPoint 0.7: packed as the EntryPoint takes them, their hash, and the signatures of the owner and of
 * the sponsor.
 */

import {
  concatHex,
  encodeFunctionData,
  hashMessage,
  hashTypedData,
  hexToNumber,
  keccak256,
  numberToHex,
  size,
  slice,
  type TypedDataDomain,
} from 'viem'
import { entryPoint07Abi, getUserOperationHash, toPackedUserOperation } from 'viem/account-abstraction'
import { larger } from '#lib/amounts'
import { bytesOf, type Hex } from '#lib/hex'
import { newestCore } from '#lib/sca-cores'
import type { Address } from '../../addresses/types.ts'
import { entryPoint } from '../../entry-point.ts'
import type {
  AddressedCall,
  OperationGas,
  OperationRequest,
  PreVerificationGas,
  Sponsorship,
  UnsignedOperation,
  UserOperation,
} from '../../facets/accounts.ts'
import type { Network } from '../../networks/index.ts'
import { intrinsicGas } from '../payments/build.ts'
import { splitSignature } from '../signing/signature.ts'
import { accountCreation, ownedBy } from './account.ts'
import { smartAccountAbi } from './artifacts/smart-account.ts'
import { sponsorPaymasterAbi } from './artifacts/sponsor-paymaster.ts'
import { contractsOf, entryPointAddress, paymasterAddress } from './deployed-contracts.ts'

/**
 * Gas limits with room above what contracts/test/accounts measures: verification of one signature by an address, the same
 * with the creation of the account, the signature of the sponsor, and the account's own work around a call.
 */
const verificationGas = 80_000n
const creationGas = 400_000n
const sponsorGas = 45_000n
const executionGas = 15_000n
/** A call from a contract pays more for coins than a transaction does: for the transfer, and for an account that is new. */
const coinsGas = 34_000n
/** Work of the EntryPoint for one operation outside the measured parts. */
const overheadGas = 43_000n
/** That work, with the gas of a bundle of one operation, as tests measure it: what is charged covers what is burnt. */
const leastOverheadGas = 40_000n
const byteGas = 16n
const zeroByteGas = 4n
/**
 * Gas that the EntryPoint measures of any operation: it verifies the signatures of an owner and of the sponsor. A transaction with
 * much data pays a floor for it, instead of what it executes (EIP-7623): what the EntryPoint measures is a part of that floor.
 */
const measuredGas = 40_000n
/** The bytes of a signature and of a sponsorship that an estimate may not have yet, at the price of the floor. */
const unknownBytesGas = 10_000n

export const encodeExecution = ({ to, valueAtomic, data }: AddressedCall): Hex =>
  encodeFunctionData({ abi: smartAccountAbi, functionName: 'execute', args: [to as Hex, valueAtomic, data] })

export function gasLimitsOfOperation({
  isDeployed,
  call,
  gas,
  dataGas,
}: Pick<OperationRequest, 'isDeployed' | 'call' | 'gas' | 'dataGas'>): OperationGas {
  const data = encodeExecution(call)
  const others = isDeployed ? 600 : 1_600
  const ofWork = overheadGas + byteGas * BigInt(size(data) + others)
  const floor = floorGas(concatHex([data, noise(others)]))
  return {
    callGas: gas + executionGas + (call.valueAtomic > 0n ? coinsGas : 0n),
    verificationGas: isDeployed ? verificationGas : creationGas,
    preVerificationGas: larger(ofWork, floor) + dataGas,
  }
}

/** The part of the floor for the data of a bundle that is left to gas that the EntryPoint does not measure. */
const floorGas = (data: Hex): bigint => intrinsicGas({ to: entryPointAddress, data }) - measuredGas

const unsigned: Hex = `0x${'0'.repeat(130)}`
/** The first bytes of the data for a paymaster: two times of six bytes, between which it pays. */
const validityBytes = 12
/** No bounds. */
const anyTime: Hex = `0x${'0'.repeat(2 * validityBytes)}`
const untilTime = (atMs: number): Hex =>
  concatHex([numberToHex(0, { size: 6 }), numberToHex(Math.floor(atMs / 1_000), { size: 6 })])

export function build(chainId: number, request: OperationRequest, sponsor: Address) {
  const { account, owner, core, nonce, isDeployed, fee } = request
  const operation: UnsignedOperation = {
    account,
    nonce,
    creation: isDeployed ? undefined : accountCreation(ownedBy(owner), contractsOf(core)),
    callData: encodeExecution(request.call),
    ...gasLimitsOfOperation(request),
    ...fee,
    sponsorship: sponsorshipOf(sponsor, anyTime),
  }
  return { operation, sponsorDigest: sponsorDigest(chainId, operation) }
}

const sponsorshipOf = (sponsor: Address, validity: Hex): Sponsorship => ({
  address: paymasterAddress(sponsor as Hex),
  verificationGas: sponsorGas,
  postOpGas: 0n,
  data: concatHex([validity, unsigned]),
})

/** The operation with a sponsorship that ends, and the digest that the sponsor signs for it. */
export function sponsored(
  chainId: number,
  unsponsored: UnsignedOperation,
  sponsor: Address,
  validUntilMs: number,
) {
  const operation = { ...unsponsored, sponsorship: sponsorshipOf(sponsor, untilTime(validUntilMs)) }
  return { operation, digest: sponsorDigest(chainId, operation) }
}

const sponsorTypes = {
  UserOperationRequest: [
    { name: 'sender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'initCode', type: 'bytes' },
    { name: 'callData', type: 'bytes' },
    { name: 'accountGasLimits', type: 'bytes32' },
    { name: 'preVerificationGas', type: 'uint256' },
    { name: 'gasFees', type: 'bytes32' },
    { name: 'paymasterVerificationGasLimit', type: 'uint256' },
    { name: 'paymasterPostOpGasLimit', type: 'uint256' },
    { name: 'validAfter', type: 'uint48' },
    { name: 'validUntil', type: 'uint48' },
  ],
} as const

/** The bytes that the paymaster checks: of every field of the operation that its price depends on. */
export function sponsorDigest(chainId: number, operation: UnsignedOperation): Buffer {
  const { sponsorship } = operation
  const domain: TypedDataDomain = {
    name: 'Bezant Sponsor',
    version: '1',
    chainId,
    verifyingContract: sponsorship!.address as Hex,
  }
  const { sender, nonce, initCode, callData, accountGasLimits, preVerificationGas, gasFees } = packed({
    ...operation,
    signature: '0x',
  })
  const message = {
    sender,
    nonce,
    initCode,
    callData,
    accountGasLimits,
    preVerificationGas,
    gasFees,
    paymasterVerificationGasLimit: sponsorship!.verificationGas,
    paymasterPostOpGasLimit: sponsorship!.postOpGas,
    validAfter: hexToNumber(slice(sponsorship!.data, 0, 6)),
    validUntil: hexToNumber(slice(sponsorship!.data, 6, validityBytes)),
  }
  return bytesOf(hashTypedData({ domain, types: sponsorTypes, primaryType: 'UserOperationRequest', message }))
}

export function attachSponsor(operation: UnsignedOperation, signature: Buffer): UnsignedOperation {
  const sponsorship = operation.sponsorship!
  const validity = slice(sponsorship.data, 0, validityBytes)
  return {
    ...operation,
    sponsorship: { ...sponsorship, data: concatHex([validity, packedSignature(signature, 27)]) },
  }
}

/** Added to the last byte of a signature of a personal message, which signatures of operations are. */
const personal = 32

export const attachOwner = (operation: UnsignedOperation, signature: Buffer): UserOperation => ({
  ...operation,
  signature: packedSignature(signature, 27 + personal),
})

function packedSignature(signature: Buffer, base: number): Hex {
  const { r, s, yParity } = splitSignature(signature)
  return concatHex([r, s, numberToHex(base + yParity, { size: 1 })])
}

export function hashesOf(chainId: number, operation: UnsignedOperation): { hash: Hex; digest: Buffer } {
  const userOperation = named({ ...operation, signature: '0x' })
  const hash = getUserOperationHash({
    chainId,
    entryPointAddress: entryPoint,
    entryPointVersion: '0.7',
    userOperation,
  })
  return { hash, digest: bytesOf(hashMessage({ raw: hash })) }
}

export function gasLimitOf(operation: UnsignedOperation): bigint {
  const { callGas, verificationGas: verification, preVerificationGas, sponsorship } = operation
  const ofSponsor = sponsorship ? sponsorship.verificationGas + sponsorship.postOpGas : 0n
  return callGas + verification + preVerificationGas + ofSponsor
}

/** Gas of a bundle beside the limits of its operations, and a share of them: the EntryPoint passes on 63 of 64 parts. */
const bundleOverheadGas = 60_000n
const bundleShare = 16n

/**
 * The gas with which a bundle is sent: each operation can use all of its limits. An estimate would let an operation that uses
 * more in the block than in the estimate end the bundle, whose gas no paymaster pays back.
 */
export function bundleGas(
  { l1Fee }: Network,
  operations: readonly UserOperation[],
  sponsor: Address,
): bigint {
  const limits = operations.reduce((sum, operation) => sum + gasLimitOf(operation), 0n)
  // Where the fee for data takes no gas, limits have it in their overhead.
  const ofData =
    l1Fee === 'op'
      ? operations.reduce((sum, { preVerificationGas }) => sum + preVerificationGas, 0n) -
        intrinsicGas(bundleCall(operations, sponsor)) -
        overheadGas * BigInt(operations.length)
      : 0n
  const gas = limits - larger(ofData, 0n)
  return gas + gas / (l1Fee === 'arb' ? 4n : bundleShare) + bundleOverheadGas
}

/** The gas that a sponsor pays for an operation at most. */
export const gasPaidFor = (network: Network, operation: UnsignedOperation): bigint => {
  const limits = gasLimitOf(operation)
  return network.chargesGasLimit ? limits + limits / bundleShare + bundleOverheadGas : limits
}

export const requiredDeposit = (operation: UnsignedOperation): bigint =>
  gasLimitOf(operation) * operation.maxFeeAtomic

/** The fields by the names that the interfaces of bundlers give them. */
export function named(operation: UserOperation) {
  const { account, nonce, creation, callData, sponsorship, signature } = operation
  return {
    sender: account as Hex,
    nonce,
    callData,
    callGasLimit: operation.callGas,
    verificationGasLimit: operation.verificationGas,
    preVerificationGas: operation.preVerificationGas,
    maxFeePerGas: operation.maxFeeAtomic,
    maxPriorityFeePerGas: operation.priorityFeeAtomic,
    signature,
    ...(creation && { factory: creation.factory as Hex, factoryData: creation.data }),
    ...(sponsorship && {
      paymaster: sponsorship.address as Hex,
      paymasterVerificationGasLimit: sponsorship.verificationGas,
      paymasterPostOpGasLimit: sponsorship.postOpGas,
      paymasterData: sponsorship.data,
    }),
  }
}

const packed = (operation: UserOperation) => toPackedUserOperation(named(operation))

/** The input that executes operations, for the EntryPoint or for the paymaster of their sponsor. */
export const bundleInput = (operations: readonly UserOperation[], beneficiary: Address): Hex =>
  encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: 'handleOps',
    args: [operations.map(packed), beneficiary as Hex],
  })

/** The call with which a sponsor executes operations: its paymaster pays for them in no other bundle. */
export const bundleCall = (operations: readonly UserOperation[], sponsor: Address): AddressedCall => ({
  to: paymasterAddress(sponsor as Hex),
  valueAtomic: 0n,
  data: bundleInput(operations, sponsor),
})

/**
 * The gas for the data of an operation in a bundle, and for the work of the EntryPoint. A signature may be another one than
 * the operation has now: the estimate counts no byte as zero.
 */
export function preVerificationGas(operation: UserOperation, dataGas: bigint): PreVerificationGas {
  const data = bundleInput([operation], operation.account)
  const bytes = bytesOf(data)
  const zeros = BigInt(bytes.filter((byte) => byte === 0).length)
  const others = BigInt(size(data)) - zeros
  const floor = floorGas(data)
  const ofWork = larger(overheadGas + byteGas * (zeros + others), floor + unknownBytesGas)
  return {
    estimated: ofWork + withMargin(dataGas),
    // The EntryPoint charges all of it. The price of the parent chain may have fallen since the estimate.
    most: ofWork + ofWork / 4n + 2n * withMargin(dataGas),
    least: larger(leastOverheadGas + zeroByteGas * zeros + byteGas * others, floor) + dataGas,
    ofData: withMargin(dataGas),
  }
}

/** A price of the parent chain may rise by half, or that of this one fall by a third, until a block holds the bundle. */
export const withMargin = (dataGas: bigint): bigint => dataGas + dataGas / 2n

/**
 * The bundle of an operation alone, as it is posted to a parent chain, where signatures do not compress. Those that come later
 * are replaced by bytes of their size.
 */
export function postedCall(operation: UserOperation): AddressedCall {
  const { sponsorship, signature } = operation
  const posted = {
    ...operation,
    signature: noise(Math.max(size(signature), size(unsigned))),
    sponsorship: sponsorship && {
      ...sponsorship,
      data: noise(Math.max(size(sponsorship.data), paymasterDataBytes)),
    },
  }
  return { to: entryPointAddress, valueAtomic: 0n, data: bundleInput([posted], entryPointAddress) }
}

/** The same for an operation that is to be built. */
export function postedCallOf({ account, isDeployed, call, gas }: BuiltOperation): AddressedCall {
  const owned = { account, owner: account, core: newestCore, isDeployed }
  const request = { ...owned, call, gas, nonce: BigInt(noise(32)), dataGas: 0n }
  const fee = { maxFeeAtomic: usualPrice, priorityFeeAtomic: usualPrice }
  return postedCall({ ...build(0, { ...request, fee }, account).operation, signature: '0x' })
}

type BuiltOperation = Pick<OperationRequest, 'account' | 'isDeployed' | 'call' | 'gas'>

const usualPrice = 1_234_567_891n
const paymasterDataBytes = validityBytes + size(unsigned)

/** Bytes without a pattern. */
const noise = (bytes: number): Hex =>
  slice(
    concatHex(
      Array.from({ length: Math.ceil(bytes / 32) }, (_, index) =>
        keccak256(numberToHex(index, { size: 32 })),
      ),
    ),
    0,
    bytes,
  )

export const paymasterDepositCall = (paymaster: Address, valueAtomic: bigint): AddressedCall => ({
  to: entryPointAddress,
  valueAtomic,
  data: encodeFunctionData({ abi: entryPoint07Abi, functionName: 'depositTo', args: [paymaster as Hex] }),
})

export const withdrawalCall = (paymaster: Address, to: Address, amountAtomic: bigint): AddressedCall => ({
  to: paymaster,
  valueAtomic: 0n,
  data: encodeFunctionData({
    abi: sponsorPaymasterAbi,
    functionName: 'withdraw',
    args: [to as Hex, amountAtomic],
  }),
})

import { keccak256, parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem'
import type { Hex } from '#lib/hex'
import { bytesOf } from '#lib/hex'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'
import type { Call, Signature, UnsignedTransaction } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { splitSignature } from '../signing/signature.ts'

/** Nodes' pools take no transaction above 128 KiB; this leaves room for the other fields. */
export const callDataBytesMax = 127 * 1024

/** The first four bytes of keccak256("transfer(address,uint256)"). */
const transferSelector = '0xa9059cbb'

/** The call that moves a token, or the native coin when `token` is absent. */
export function transferCall(to: Address, amountAtomic: bigint, token?: Address): Call {
  if (token === undefined) return { to, valueAtomic: amountAtomic, data: '0x' }
  const recipient = to.slice(2).padStart(64, '0')
  const amount = amountAtomic.toString(16).padStart(64, '0')
  return { to: token, valueAtomic: 0n, data: `${transferSelector}${recipient}${amount}` }
}

/** Cost of creating a contract, and of each 32 bytes of the data that creates it (EIP-3860). */
const creationGas = 32_000n
const creationWordGas = 2n

/**
 * The lowest gas limit with which a block includes the call: below it no node mines it, and some pools keep it for ever.
 * Per byte of data as in EIP-2028 and, as the floor, EIP-7623.
 */
export function intrinsicGas({ to, data }: Pick<Call, 'to' | 'data'>): bigint {
  const bytes = bytesOf(data)
  const zeros = bytes.filter((byte) => byte === 0).length
  const tokens = BigInt(zeros + 4 * (bytes.length - zeros))
  const floor = 21_000n + 10n * tokens
  if (to !== undefined) return floor
  const created = 21_000n + creationGas + 4n * tokens + creationWordGas * BigInt(Math.ceil(bytes.length / 32))
  return created > floor ? created : floor
}

function requestOf(network: Network, transaction: UnsignedTransaction) {
  const { to, valueAtomic: value, data, nonce, gasLimit: gas } = transaction
  const call = { chainId: network.chainId, ...(to && { to: to as Hex }), value, data, nonce, gas }
  if (network.feeModel !== 'eip1559')
    return { ...call, type: 'legacy' as const, gasPrice: transaction.maxFeeAtomic }
  const fees = { maxFeePerGas: transaction.maxFeeAtomic, maxPriorityFeePerGas: transaction.priorityFeeAtomic }
  return { ...call, ...fees, type: 'eip1559' as const }
}

/** The 32 bytes to sign: keccak256 of the unsigned transaction (EIP-1559, or EIP-155 on older chains). */
export const payloadOf = (network: Network, transaction: UnsignedTransaction): Buffer =>
  bytesOf(keccak256(serializeTransaction(requestOf(network, transaction))))

/** The signed transaction and its hash. */
export function attachSignature(network: Network, transaction: UnsignedTransaction, signature: Signature) {
  const { r, s, yParity } = splitSignature(signature)
  const raw = serializeTransaction(requestOf(network, transaction), {
    r,
    s,
    // Older transactions carry 27 or 28, into which the serialiser works the chain id (EIP-155).
    ...(network.feeModel === 'eip1559' ? { yParity } : { v: BigInt(27 + yParity) }),
  }) as Hex
  return { raw, hash: keccak256(raw) }
}

/** The reverse of `attachSignature`; `undefined` where the bytes are no signed transaction of the network. */
export async function readSigned(network: Network, raw: Hex): Promise<UnsignedTransaction | undefined> {
  try {
    const parsed = parseTransaction(raw)
    if (parsed.chainId !== network.chainId) return undefined
    const from = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
    return {
      from: canonicalAddress(from) as Address,
      to: parsed.to ? (canonicalAddress(parsed.to) as Address) : undefined,
      valueAtomic: parsed.value ?? 0n,
      data: parsed.data ?? '0x',
      nonce: parsed.nonce ?? 0,
      gasLimit: parsed.gas ?? 0n,
      maxFeeAtomic: parsed.maxFeePerGas ?? parsed.gasPrice ?? 0n,
      priorityFeeAtomic: parsed.maxPriorityFeePerGas ?? 0n,
    }
  } catch {
    return undefined
  }
}

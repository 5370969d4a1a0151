/**
 * Reads the calls in the input of a bundle. Strangers write inputs too, in which a few bytes may stand for any number of calls:
 * bytes are read in place, never copied, and their number is bounded.
 */
import { toFunctionSelector } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import { smartAccountAbi } from './artifacts/smart-account.ts'
import { entryPointAddress, paymasterAddress } from './deployed-contracts.ts'

type Named = { type: string; name?: string }
const selectorOf = (abi: readonly Named[], name: string) =>
  toFunctionSelector(abi.find((each) => each.type === 'function' && each.name === name) as never)

const handleOps = selectorOf(entryPoint07Abi, 'handleOps')
const execute = selectorOf(smartAccountAbi, 'execute')
const executeBatch = selectorOf(smartAccountAbi, 'executeBatch')

const wordBytes = 32
/** More than any bundle or batch has. */
const itemsMax = 4_096

function wordAt(bytes: Buffer, at: number): Buffer {
  if (at + wordBytes > bytes.length) throw new RangeError('the input ends within a word')
  return bytes.subarray(at, at + wordBytes)
}
const valueAt = (bytes: Buffer, at: number) => BigInt(hexOf(wordAt(bytes, at)))
const addressAt = (bytes: Buffer, at: number) => hexOf(wordAt(bytes, at).subarray(12)) as Address

/** A length, or a position after `base`. */
function sizeAt(bytes: Buffer, at: number, base = 0): number {
  const size = valueAt(bytes, at)
  if (size > bytes.length) throw new RangeError('the input ends before what it points to')
  return base + Number(size)
}

function bytesAt(bytes: Buffer, at: number): Buffer {
  const start = at + wordBytes
  const end = start + sizeAt(bytes, at)
  if (end > bytes.length) throw new RangeError('the input ends within its bytes')
  return bytes.subarray(start, end)
}

/** Where the tuples of an array of tuples begin. */
function tuplesAt(bytes: Buffer, at: number): number[] {
  const count = sizeAt(bytes, at)
  if (count > itemsMax) throw new RangeError('the input has too many items')
  const first = at + wordBytes
  return Array.from({ length: count }, (_, index) => sizeAt(bytes, first + index * wordBytes, first))
}

function argumentsOf(input: Buffer, selectors: readonly Hex[]): Buffer | undefined {
  return selectors.includes(hexOf(input.subarray(0, 4))) ? input.subarray(4) : undefined
}

function unlessCut<Read>(read: () => Read): Read | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Whether a transaction gives its input to the EntryPoint as a bundle: by itself, or through the paymaster whose sponsor sends it.
 * Other contracts may pass on another bundle than the one in their input.
 */
export const isBundle = (from: Address, to: Address | undefined, input: unknown): boolean =>
  to === entryPointAddress ||
  (typeof input === 'string' && input.startsWith(handleOps) && to === paymasterAddress(from as Hex))

type BundledCall = { account: Address; nonce: bigint; callData: Buffer }

/** The calls of a bundle; `undefined` when the input is no bundle. */
export function readBundle(input: Hex): { beneficiary: Address; calls: BundledCall[] } | undefined {
  const bytes = argumentsOf(bytesOf(input), [handleOps])
  return unlessCut(() => {
    if (!bytes) return undefined
    const calls = tuplesAt(bytes, sizeAt(bytes, 0)).map((at) => {
      const callData = bytesAt(bytes, sizeAt(bytes, at + 3 * wordBytes, at))
      return { account: addressAt(bytes, at), nonce: valueAt(bytes, at + wordBytes), callData }
    })
    return { beneficiary: addressAt(bytes, wordBytes), calls }
  })
}

type InnerCall = { to: Address; amountAtomic: bigint; data: Buffer }

/** The calls that the code of an account makes for this data. */
function callsIn(callData: Buffer): InnerCall[] {
  const bytes = argumentsOf(callData, [execute, executeBatch])
  const isBatch = hexOf(callData.subarray(0, 4)) === executeBatch
  const read = unlessCut(() => {
    if (!bytes) return []
    return (isBatch ? tuplesAt(bytes, sizeAt(bytes, 0)) : [0]).map((at) => ({
      to: addressAt(bytes, at),
      amountAtomic: valueAt(bytes, at + wordBytes),
      data: bytesAt(bytes, sizeAt(bytes, at + 2 * wordBytes, at)),
    }))
  })
  return read ?? []
}

/** How deep the calls of an account to itself are followed, and how many of one operation. */
const depthMax = 4
const selfCallsMax = 32

/** The native coins that calls of an account carry, also those that it makes through itself, such as a batch. */
export function coinTransfersIn(
  account: Address,
  callData: Buffer,
  depth = 0,
  left = { selfCalls: selfCallsMax },
): { to: Address; amountAtomic: bigint }[] {
  if (depth > depthMax || left.selfCalls-- < 0) return []
  return callsIn(callData).flatMap(({ to, amountAtomic, data }) => {
    if (to === account) return coinTransfersIn(account, data, depth + 1, left)
    return amountAtomic > 0n ? [{ to, amountAtomic }] : []
  })
}

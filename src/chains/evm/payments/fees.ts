import { larger } from '#lib/amounts'
import type { Address } from '../../addresses/types.ts'
import type { AbiError } from '../../facets/contracts.ts'
import type { CallTrial, FeeSuggestion, GasEstimate } from '../../facets/offers.ts'
import type { Call } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { explainHalt, explainRevert, isHalt, isRevert, outOfGas, revertData } from '../contracts/revert.ts'
import { type CallBounds, callLimits } from '../rpc/call-bounds.ts'
import { quantity, toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { AnswerTooLarge } from '../rpc/rpc-errors.ts'

type History = { baseFeePerGas?: unknown; reward?: unknown }

/** The least priority fee worth offering: one wei less and pools drop it on the first fee step. */
const priorityFloorAtomic = 1_000_000n
const historyBlocks = 10

/**
 * Returns the base fee of the next block and three priority fees: the median, over recent blocks, of the 25th, 50th and 90th
 * percentile, each at least a fixed floor. Nothing is added: on a quiet chain our own transactions set these percentiles and
 * would raise our own price. The median keeps a single block that overpays from raising it. Where transactions name one price, it is
 * the one that the node names, at each level.
 */
export async function suggestFees(rpc: Rpc, network: Network): Promise<FeeSuggestion> {
  if (network.feeModel !== 'eip1559') {
    const price = quantity(await rpc.call('eth_gasPrice', []), 'gas price')
    // The whole price is paid, whatever the block asks for: a base fee with room above it would be paid twice.
    return { baseFeeAtomic: 0n, priorityFeeAtomic: { LOW: price, MEDIUM: price, HIGH: price } }
  }
  const history = await rpc.call<History | null>('eth_feeHistory', [
    toQuantity(historyBlocks),
    'latest',
    [25, 50, 90],
  ])
  const baseFees = listOf(history?.baseFeePerGas, 'base fees')
  const rewards = listOf(history?.reward ?? [], 'rewards').map((block) => listOf(block, 'rewards'))
  const least = network.priorityFloorAtomic ?? priorityFloorAtomic
  const level = (index: number, floorQuarters: bigint) => {
    const usual = median(rewards.map((block) => quantity(block[index], 'reward')))
    const floor = (least * floorQuarters) / 4n
    return usual > floor ? usual : floor
  }
  return {
    baseFeeAtomic: quantity(baseFees.at(-1), 'base fee'),
    recentBaseFeeAtomic: baseFees.map((fee) => quantity(fee, 'base fee')).reduce(larger),
    priorityFeeAtomic: { LOW: level(0, 4n), MEDIUM: level(1, 5n), HIGH: level(2, 6n) },
  }
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new NodeUnreachable(`the fee history has no ${what}`)
}

function median(values: readonly bigint[]): bigint {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : Number(a > b)))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0n
}

/**
 * Estimates the gas of a call, or classifies the refusal in terms that do not depend on the node's wording. `bounds`: those of
 * what a request asks for.
 */
export async function estimateGas(
  rpc: Rpc,
  from: Address,
  { to, valueAtomic, data }: Call,
  errors: readonly AbiError[] = [],
  bounds?: CallBounds,
): Promise<GasEstimate> {
  const request = { from, ...(to && { to }), value: toQuantity(valueAtomic), data }
  try {
    const gas = bounds
      ? await rpc.call(
          'eth_estimateGas',
          [
            { ...request, gas: toQuantity(bounds.gas) },
            'latest',
            ...(bounds.changes ? [bounds.changes] : []),
          ],
          bounds.limits,
        )
      : await rpc.call('eth_estimateGas', [request])
    return { kind: 'estimated', gas: quantity(gas, 'gas estimate') }
  } catch (error) {
    if (error instanceof RpcError) return verdictOf(rpc, error, errors, bounds)
    if (bounds && error instanceof AnswerTooLarge) return tooLong
    if (error instanceof NodeUnreachable) return { kind: 'unknown', message: error.message }
    throw error
  }
}

/** The verdict on a call whose contract answers, or reverts, with more than is read: no node answers it in fewer bytes. */
const tooLong = { kind: 'refused', message: 'the contract answers with more bytes than are read' } as const

/** Executes a call without sending it, with this gas at most; a refusal is that of an estimate. */
export async function tryCall(
  rpc: Rpc,
  from: Address,
  { to, valueAtomic, data }: Call,
  gas: bigint,
): Promise<CallTrial> {
  const request = { from, ...(to && { to }), value: toQuantity(valueAtomic), data, gas: toQuantity(gas) }
  try {
    await rpc.call('eth_call', [request, 'latest'], callLimits)
    return { kind: 'executed' }
  } catch (error) {
    if (error instanceof AnswerTooLarge) return tooLong
    if (error instanceof NodeUnreachable) return { kind: 'unknown', message: error.message }
    if (!(error instanceof RpcError)) throw error
    // Some nodes say so without calling it a revert.
    if (outOfGas.test(error.message)) return { kind: 'refused', message: `it needs more than ${gas} gas` }
    return verdictOf(rpc, error, [], undefined)
  }
}

/** Rules that exclude such a transaction from any block, at any price and nonce. */
const rulePattern =
  /intrinsic ?gas|floor data gas|max (init)?code size|initcode|oversized data|exceeds (the )?block('s)? gas limit|sender not an eoa/i
const poorPattern = /insufficient funds|lack of funds|insufficient balance for transfer/i
/** One transaction may use no more gas than this where EIP-7825 is in force. */
const gasLimitMax = 2n ** 24n

/**
 * Classifies a refusal to estimate. A rate limit, a time-out, a block that this node does not have and unlisted messages are
 * no verdict on the call: `unknown`.
 */
async function verdictOf(
  rpc: Rpc,
  error: RpcError,
  errors: readonly AbiError[],
  bounds: CallBounds | undefined,
): Promise<Exclude<GasEstimate, { kind: 'estimated' }>> {
  const { message } = error
  if (isRevert(error)) {
    return { kind: 'reverted', message: explainRevert(error, errors), data: revertData(error.data) }
  }
  if (poorPattern.test(message)) return { kind: 'insufficient-funds', message }
  const [, allowance] = /gas required exceeds allowance:? \(?(\d+)/i.exec(message) ?? []
  if (allowance !== undefined) {
    if (bounds && BigInt(allowance) === bounds.gas)
      return { kind: 'refused', message: `it needs more than ${allowance} gas, which no estimate executes` }
    const isRule = BigInt(allowance) === gasLimitMax || (await isBlockFull(rpc, BigInt(allowance)))
    return { kind: isRule ? 'refused' : 'unknown', message }
  }
  if (isHalt(error)) return { kind: 'reverted', message: explainHalt(error) }
  return { kind: rulePattern.test(message) ? 'refused' : 'unknown', message }
}

/** Whether this amount of gas fills a block: less is a limit of the provider. */
async function isBlockFull(rpc: Rpc, gas: bigint): Promise<boolean> {
  try {
    const block = await rpc.call<{ gasLimit?: unknown } | null>('eth_getBlockByNumber', ['latest', false])
    return gas >= quantity(block?.gasLimit, 'gas limit of a block')
  } catch {
    return false
  }
}

/** Writing a recipient's first balance costs about this much more than adding to it. */
const firstBalanceGas = 30_000n

/** Gas of a transfer of tokens that no node could estimate, such as one whose coins are still on their way. */
const usualTransferGas = 150_000n
/** Gas beyond an estimate, for storage that changes until the transaction is mined. */
const spareGas = 30_000n

export const quotedGas = (estimated: bigint | undefined): bigint =>
  estimated === undefined ? usualTransferGas : (estimated * 6n) / 5n + spareGas

/** Contract state may change until a call is mined; only Monad charges for unused gas. */
export function limitOf(estimated: bigint, kind: 'coins' | 'token' | 'call'): bigint {
  if (kind === 'coins') return estimated
  return estimated + (kind === 'token' ? firstBalanceGas : estimated / 5n)
}

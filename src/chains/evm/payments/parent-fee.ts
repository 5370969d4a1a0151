import { encodeFunctionData, parseAbi, serializeTransaction, slice } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Call } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { isRevert } from '../contracts/revert.ts'
import { toQuantity } from '../rpc/quantities.ts'
import { type Rpc, RpcError } from '../rpc/rpc.ts'
import type { AnswerLimits } from '../rpc/rpc-errors.ts'

/** The contract with the prices of the parent chain, at the same address on all chains of the OP stack. */
const oracle = '0x420000000000000000000000000000000000000f'
const oracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)'])
/** Fields that are chosen later: of the size that they usually have. */
const later = { nonce: 0xffff, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 8n }

/**
 * The fee for posting a transaction with this call to the parent chain, which is paid beside that for gas. `undefined` on
 * chains without such a fee, and on local chains, which have no parent.
 */
export async function parentFee(
  rpc: Rpc,
  network: Network,
  { to, valueAtomic, data }: Call,
  gasLimit: bigint,
  limits?: AnswerLimits,
): Promise<bigint | undefined> {
  if (network.l1Fee !== 'op') return undefined
  const request = { ...later, value: valueAtomic, data, gas: gasLimit, chainId: network.chainId }
  const unsigned = serializeTransaction({ ...request, type: 'eip1559', ...(to && { to: to as Hex }) })
  const asked = encodeFunctionData({ abi: oracleAbi, functionName: 'getL1Fee', args: [unsigned] })
  return firstWord(await ask(rpc, oracle, asked, limits)) || undefined
}

/** The address at which nodes of all Arbitrum chains answer calls themselves; no contract is deployed there. */
const nodeInterface = '0x00000000000000000000000000000000000000c8'
const nodeAbi = parseAbi([
  'function gasEstimateL1Component(address to, bool contractCreation, bytes data) view returns (uint64, uint256, uint256)',
])

/**
 * The gas that covers the data of a call on the parent chain when each gas costs `priceAtomic`. None on chains without such a
 * fee. Arbitrum charges for data in gas; the OP stack charges a fee beside it.
 */
export async function parentGas(
  rpc: Rpc,
  network: Network,
  call: Call & { to: Address },
  priceAtomic: bigint,
  limits?: AnswerLimits,
): Promise<bigint> {
  if (network.l1Fee === 'arb') {
    const args = [call.to as Hex, false, call.data] as const
    const asked = encodeFunctionData({ abi: nodeAbi, functionName: 'gasEstimateL1Component', args })
    return firstWord(await ask(rpc, nodeInterface, asked, limits)) ?? 0n
  }
  const feeAtomic = (await parentFee(rpc, network, call, usualGasLimit, limits)) ?? 0n
  return (feeAtomic + priceAtomic - 1n) / priceAtomic
}

/** Of a bundle: its size alone matters. */
const usualGasLimit = 1_000_000n

const ask = (rpc: Rpc, to: Hex, data: Hex, limits: AnswerLimits | undefined): Promise<unknown> =>
  rpc
    .call<unknown>('eth_call', [{ to, data, gas: toQuantity(30_000_000n) }, 'latest'], limits)
    .catch((error) => {
      // Chains before the upgrade that added the contract, or its function, have no such fee.
      if (error instanceof RpcError && isRevert(error)) return '0x'
      throw error
    })

const firstWord = (answer: unknown): bigint | undefined =>
  typeof answer === 'string' && /^0x([\da-f]{64})+$/.test(answer)
    ? BigInt(slice(answer as Hex, 0, 32))
    : undefined

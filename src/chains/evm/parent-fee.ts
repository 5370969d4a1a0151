import { encodeFunctionData, parseAbi, serializeTransaction } from 'viem'
import type { Hex } from '#lib/hex'
import type { Call } from '../chain.ts'
import type { Network } from '../network.ts'
import { toQuantity } from './quantities.ts'
import { isRevert } from './revert.ts'
import { type Rpc, RpcError } from './rpc.ts'

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
): Promise<bigint | undefined> {
  if (network.l1Fee !== 'op') return undefined
  const request = { ...later, value: valueAtomic, data, gas: gasLimit, chainId: network.chainId }
  const unsigned = serializeTransaction({ ...request, type: 'eip1559', ...(to && { to: to as Hex }) })
  const asked = encodeFunctionData({ abi: oracleAbi, functionName: 'getL1Fee', args: [unsigned] })
  const answer = await rpc
    .call<unknown>('eth_call', [{ to: oracle, data: asked, gas: toQuantity(30_000_000n) }, 'latest'])
    .catch((error) => {
      // Chains before the upgrade that added the contract, or its function, have no such fee.
      if (error instanceof RpcError && isRevert(error)) return '0x'
      throw error
    })
  return typeof answer === 'string' && /^0x[\da-f]{64}$/.test(answer) ? BigInt(answer) : undefined
}

import type { Address } from '../../addresses/types.ts'
import type { AddressedCall, BundleSimulation } from '../../facets/accounts.ts'
import { isRevert, revertData } from '../contracts/revert.ts'
import type { CallBounds } from '../rpc/call-bounds.ts'
import { toQuantity } from '../rpc/quantities.ts'
import { type Rpc, RpcError } from '../rpc/rpc.ts'
import { failedOperation } from './executed.ts'

/** Executes a bundle in the state of the newest block. The EntryPoint names the first operation that makes it fail. */
export async function simulateBundle(
  rpc: Rpc,
  { to, data }: AddressedCall,
  from: Address,
  bounds?: CallBounds,
): Promise<BundleSimulation> {
  try {
    if (bounds) {
      const call = { from, to, data, gas: toQuantity(bounds.gas) }
      const changes = bounds.changes ? [bounds.changes] : []
      await rpc.call('eth_call', [call, 'latest', ...changes], bounds.limits)
    } else await rpc.call('eth_call', [{ from, to, data }, 'latest'])
    return { kind: 'passes' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (!(error instanceof RpcError) || !isRevert(error)) return { kind: 'unknown', message }
    const bytes = revertData(error.data)
    const failed = bytes && failedOperation(bytes)
    return failed ? { kind: 'failed', ...failed } : { kind: 'reverted', message }
  }
}

import type { AddressedCall, BundleSimulation } from '../../accounts.ts'
import type { Address } from '../../chain.ts'
import { isRevert, revertData } from '../revert.ts'
import { type Rpc, RpcError } from '../rpc.ts'
import { failedOperation } from './executed.ts'

/**
 * Executes a bundle in the state of the newest block. The EntryPoint names the first operation that makes it fail. `changes`
 * of that state by address, as nodes take them.
 */
export async function simulateBundle(
  rpc: Rpc,
  { to, data }: AddressedCall,
  from: Address,
  changes?: Readonly<Record<string, object>>,
): Promise<BundleSimulation> {
  try {
    await rpc.call('eth_call', [{ from, to, data }, 'latest', ...(changes ? [changes] : [])])
    return { kind: 'passes' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (!(error instanceof RpcError) || !isRevert(error)) return { kind: 'unknown', message }
    const bytes = revertData(error.data)
    const failed = bytes && failedOperation(bytes)
    return failed ? { kind: 'failed', ...failed } : { kind: 'unknown', message }
  }
}

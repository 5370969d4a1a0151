import { encodeFunctionData } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import type { Accounts, AddressedCall, BundleSimulation, ContractCreation } from '../../accounts.ts'
import type { Address } from '../../chain.ts'
import type { Network } from '../../network.ts'
import { quantity } from '../quantities.ts'
import { isRevert, revertData } from '../revert.ts'
import { type Rpc, RpcError } from '../rpc.ts'
import { accountCreations, type CreatedContract, entryPointAddress, paymasterOf } from './deployment.ts'
import { executedIn, failedOperation } from './executed.ts'
import {
  attachOwner,
  attachSponsor,
  build,
  bundleCall,
  depositCall,
  gasLimitOf,
  gasOf,
  hashesOf,
  requiredDeposit,
} from './operation.ts'

const canonical = ({ address, call }: CreatedContract): ContractCreation => ({
  address: address.toLowerCase() as Address,
  call: { to: call.to.toLowerCase() as Address, valueAtomic: 0n, data: call.data },
})

const creations = accountCreations.map(canonical)

/** The smart accounts of a chain, through its node. */
export const accountsThrough = (rpc: Rpc, { chainId }: Network): Accounts => ({
  entryPoint: entryPointAddress,
  creations,
  paymasterOf: (sponsor) => canonical(paymasterOf(sponsor as `0x${string}`)),
  depositOf: async (paymaster) => {
    const data = encodeFunctionData({
      abi: entryPoint07Abi,
      functionName: 'balanceOf',
      args: [paymaster as `0x${string}`],
    })
    return quantity(await rpc.call('eth_call', [{ to: entryPointAddress, data }, 'latest']), 'deposit')
  },
  depositCall,
  gasOf,
  build: (request, sponsor) => build(chainId, request, sponsor),
  attachSponsor,
  hashesOf: (operation) => hashesOf(chainId, operation),
  attachOwner,
  gasLimitOf,
  requiredDeposit,
  bundleCall,
  simulate: (operations, beneficiary) => simulate(rpc, bundleCall(operations, beneficiary), beneficiary),
  executedIn,
})

/** Executes a bundle in the state of the newest block. The EntryPoint names the first operation that makes it fail. */
async function simulate(rpc: Rpc, { to, data }: AddressedCall, from: Address): Promise<BundleSimulation> {
  try {
    await rpc.call('eth_call', [{ from, to, data }, 'latest'])
    return { kind: 'passes' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (!(error instanceof RpcError) || !isRevert(error)) return { kind: 'unknown', message }
    const bytes = revertData(error.data)
    const failed = bytes && failedOperation(bytes)
    return failed ? { kind: 'failed', ...failed } : { kind: 'unknown', message }
  }
}

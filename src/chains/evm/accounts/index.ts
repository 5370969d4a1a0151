import { encodeFunctionData } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { newestCore } from '#lib/sca-cores'
import type { Address } from '../../addresses/types.ts'
import type { Accounts, ContractCreation } from '../../facets/accounts.ts'
import type { Network } from '../../networks/index.ts'
import { parentGas } from '../payments/parent-fee.ts'
import { quantity } from '../rpc/quantities.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type PinnedCode, readContracts } from './contracts.ts'
import { type CreatedContract, creationsOf, entryPointAddress, paymasterOf } from './deployed-contracts.ts'
import { executedIn } from './executed.ts'
import { modularThrough } from './modular.ts'
import {
  attachOwner,
  attachSponsor,
  build,
  bundleCall,
  bundleGas,
  gasLimitOf,
  gasLimitsOfOperation,
  gasPaidFor,
  hashesOf,
  paymasterDepositCall,
  postedCallOf,
  requiredDeposit,
  withdrawalCall,
  withMargin,
} from './operation.ts'
import { ownersAddedIn } from './owners.ts'
import { simulateBundle } from './simulate.ts'
import { usdcPaymastersThrough } from './token-paymaster.ts'
import { contractsNeeded, upgradeOf } from './versions.ts'

const canonical = ({ address, call }: CreatedContract): ContractCreation => ({
  address: address.toLowerCase() as Address,
  call: { to: call.to.toLowerCase() as Address, valueAtomic: 0n, data: call.data },
})

const creations = creationsOf(newestCore).map(canonical)

/** The smart accounts of a chain, through its node. */
export const accountsThrough = (rpc: Rpc, network: Network, pinned: PinnedCode): Accounts => ({
  modular: modularThrough(rpc, network),
  usdcPaymasters: usdcPaymastersThrough(rpc, network),
  entryPoint: entryPointAddress,
  creationsFor: (operations) => contractsNeeded(operations).map(canonical),
  upgrade: upgradeOf,
  contracts: () => readContracts(rpc, network, pinned),
  creations,
  paymasterOf: (sponsor) => canonical(paymasterOf(sponsor as `0x${string}`)),
  depositOf: async (paymaster, atBlock) => {
    const data = encodeFunctionData({
      abi: entryPoint07Abi,
      functionName: 'balanceOf',
      args: [paymaster as `0x${string}`],
    })
    const at = atBlock === undefined ? 'latest' : { blockHash: atBlock }
    const deposit = await rpc.call('eth_call', [{ to: entryPointAddress, data }, at])
    // Without an EntryPoint there is no deposit.
    return deposit === '0x' ? 0n : quantity(deposit, 'deposit')
  },
  depositCall: paymasterDepositCall,
  withdrawalCall,
  gasOf: gasLimitsOfOperation,
  dataGasOf: async (request, priceAtomic) =>
    withMargin(await parentGas(rpc, network, postedCallOf(request), priceAtomic)),
  build: (request, sponsor) => build(network.chainId, request, sponsor),
  attachSponsor,
  hashesOf: (operation) => hashesOf(network.chainId, operation),
  attachOwner,
  gasLimitOf,
  gasPaidFor: (operation) => gasPaidFor(network, operation),
  requiredDeposit,
  bundleCall,
  bundleGas: (operations, sponsor) => bundleGas(network, operations, sponsor),
  simulate: (operations, sponsor) => simulateBundle(rpc, bundleCall(operations, sponsor), sponsor),
  executedIn,
  ownersAddedIn,
})

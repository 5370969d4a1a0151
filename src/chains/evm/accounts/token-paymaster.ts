/** The paymasters of this installation that take USDC of the accounts whose gas they pay. */
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { AddressedCall, UsdcPaymasters } from '../../facets/accounts.ts'
import { stablecoinNamed } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { tokenPaymasterAbi as abi } from './artifacts/token-paymaster.ts'
import { type CreatedContract, tokenPaymasterOf } from './deployed-contracts.ts'

const calling = (to: Address, data: Hex): AddressedCall => ({ to, valueAtomic: 0n, data })

export const usdcPaymastersThrough = (rpc: Rpc, network: Network): UsdcPaymasters => ({
  of: (owner) => paymasterOn(network, owner as Hex),
  priceOf: async (paymaster) => {
    const data = encodeFunctionData({ abi, functionName: 'price' })
    const result = await rpc.call<Hex>('eth_call', [{ to: paymaster, data }, 'latest'])
    // Without code there is no price.
    if (result === '0x') return undefined
    const [nativeTokenPrice, feeSpread, validUntil] = decodeFunctionResult({
      abi,
      functionName: 'price',
      data: result,
    })
    return nativeTokenPrice === 0n
      ? undefined
      : { nativeTokenPrice, feeSpread, validUntilMs: validUntil * 1_000 }
  },
  priceCall: (paymaster, { nativeTokenPrice, feeSpread, validUntilMs }) => {
    const args = [nativeTokenPrice, feeSpread, Math.floor(validUntilMs / 1_000)] as const
    return calling(paymaster, encodeFunctionData({ abi, functionName: 'setPrice', args }))
  },
  withdrawalCall: (paymaster, to, amountAtomic) => {
    const args = [to as Hex, amountAtomic] as const
    return calling(paymaster, encodeFunctionData({ abi, functionName: 'withdrawToken', args }))
  },
})

/**
 * Where a chain charges gas that nothing used, bundles would cost more than the EntryPoint pays back; where USDC is the native coin, it
 * pays for gas by itself.
 */
function paymasterOn(network: Network, owner: Hex) {
  const token = stablecoinNamed(network, 'USDC')
  if (token === undefined || network.nativeToken.contract || network.chargesGasLimit) return undefined
  const { address, call }: CreatedContract = tokenPaymasterOf(owner, token.address as Hex)
  return {
    address: address.toLowerCase() as Address,
    call: calling(call.to.toLowerCase() as Address, call.data),
  }
}

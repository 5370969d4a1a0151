import type { Network } from '#chains/networks/index'
import { networkFeeOf, priceUnitOf } from '#chains/prices'
import { formatAmount } from '#lib/amounts'

type Prices = { baseFeeAtomic: bigint; priorityFeeAtomic: bigint; maxFeeAtomic: bigint }

/** The needs of a transaction beside its prices. `depositAtomic`: native coins that it takes beside its fee. */
export type NeededGas = { gas: bigint; depositAtomic?: bigint | undefined }

/** Shows prices in the unit of their chain and, with the limit of gas, whole fees in native coins. */
export function showFee(network: Network, prices: Prices, needed?: NeededGas) {
  const { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic } = prices
  const price = (atomic: bigint) => formatAmount(atomic, priceUnitOf(network.blockchain).decimals)
  const shown = {
    eip1559: () => ({
      baseFee: price(baseFeeAtomic),
      priorityFee: price(priorityFeeAtomic),
      maxFee: price(maxFeeAtomic),
    }),
    gasPrice: () => ({ gasPrice: price(baseFeeAtomic + priorityFeeAtomic) }),
    priorityFee: () => ({ priorityFee: price(priorityFeeAtomic) }),
  }[network.feeModel]()
  if (needed === undefined) return shown
  const { gas: gasLimit, depositAtomic = 0n } = needed
  const coins = (priceAtomic: bigint) => {
    const fee = networkFeeOf(network.blockchain, { gasLimit, priceAtomic })
    return formatAmount(fee + depositAtomic, network.nativeToken.decimals)
  }
  return {
    gasLimit: gasLimit.toString(),
    ...shown,
    networkFee: coins(maxFeeAtomic),
    networkFeeRaw: coins(baseFeeAtomic + priorityFeeAtomic),
  }
}

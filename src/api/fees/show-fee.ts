import type { Network } from '#chains/networks/index'
import { priceUnitOf } from '#chains/price-unit'
import { formatAmount } from '#lib/amounts'

type Prices = { baseFeeAtomic: bigint; priorityFeeAtomic: bigint; maxFeeAtomic: bigint }

/** Shows prices in the unit of their chain and, with the limit of gas, whole fees in native coins. */
export function showFee(network: Network, prices: Prices, gasLimit?: bigint) {
  const { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic } = prices
  const price = (atomic: bigint) => formatAmount(atomic, priceUnitOf(network.blockchain).decimals)
  const shown = network.eip1559
    ? { baseFee: price(baseFeeAtomic), priorityFee: price(priorityFeeAtomic), maxFee: price(maxFeeAtomic) }
    : { gasPrice: price(baseFeeAtomic + priorityFeeAtomic) }
  if (gasLimit === undefined) return shown
  const coins = (atomic: bigint) => formatAmount(atomic, network.nativeToken.decimals)
  return {
    gasLimit: gasLimit.toString(),
    ...shown,
    networkFee: coins(gasLimit * maxFeeAtomic),
    networkFeeRaw: coins(gasLimit * (baseFeeAtomic + priorityFeeAtomic)),
  }
}

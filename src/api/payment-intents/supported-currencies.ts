import { capabilitiesOf } from '#chains/capabilities'
import { stablecoinIn } from '#chains/network'
import type { Ctx } from '#engines/ctx'

/** Payable currencies and their chains: those that this server is connected to, of the key's environment. */
export function supportedCurrencies(ctx: Ctx) {
  const networks = ctx.chains
    .list()
    .map(({ network }) => network)
    .filter(
      ({ blockchain, environment }) =>
        environment === ctx.entity.environment && capabilitiesOf(blockchain).businessAccount,
    )
  return ['USD', 'EUR'].flatMap((currency) => {
    const blockchains = networks
      .filter((network) => stablecoinIn(network, currency))
      .map(({ businessChain }) => businessChain)
      .sort()
    return blockchains.length > 0 ? [{ currency, blockchains }] : []
  })
}

import type { NetworkOf } from '#chains/network'
import { monadTestnet as evm } from '#chains/networks/monad-testnet'
import { aptosTestnet } from '#testing/nodes/aptos-network'

/** Stands in the place of a file of `chains/networks/`, under a name that clients know. */
export const monadTestnet: NetworkOf<'MONAD-TESTNET'> = {
  ...aptosTestnet,
  blockchain: 'MONAD-TESTNET',
  businessChain: evm.businessChain,
  domain: evm.domain!,
}

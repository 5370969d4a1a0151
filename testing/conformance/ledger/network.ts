import type { NetworkOf } from '#chains/network'
import { monadTestnet as evm } from '#chains/networks/monad-testnet'

/** Stands in the place of a file of `chains/networks/`, under a name that clients know. */
export const monadTestnet: NetworkOf<'MONAD-TESTNET'> = { ...evm, family: 'near' }

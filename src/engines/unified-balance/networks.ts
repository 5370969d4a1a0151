import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import type { Chain, Chains } from '#chains/chain'
import type { Crosschain } from '#chains/crosschain/crosschain'
import { stablecoinNamed, tokenAddress } from '#chains/network'
import { networkOfDomain } from '#chains/networks/index'
import type { Scope } from '#runtime/scope'

/** The token of unified balances. */
export const tokenSymbol = 'USDC'

/** A chain that has a unified balance here. */
export type UnifiedChain = {
  chain: Chain
  blockchain: Blockchain
  domain: number
  crosschain: Crosschain
  wallet: Address
  minter: Address
  /** Canonical address of the token. */
  token: Address
  decimals: number
}

/** The chain with its contracts and token; `undefined` where it has no unified balance. */
export function unifiedChainOf(chain: Chain): UnifiedChain | undefined {
  const { crosschain, network } = chain
  const token = stablecoinNamed(network, tokenSymbol)
  if (!crosschain?.addresses.wallet || !crosschain.addresses.minter || !token) return undefined
  return {
    chain,
    blockchain: network.blockchain,
    domain: crosschain.domain,
    crosschain,
    wallet: crosschain.addresses.wallet,
    minter: crosschain.addresses.minter,
    token: tokenAddress(token),
    decimals: token.decimals,
  }
}

type ChainsScope = Scope & { chains: Chains }

/** The chains of unified balances in the environment that this server answers for, by domain. */
export function unifiedChains({ chains, config }: ChainsScope): UnifiedChain[] {
  return chains
    .list()
    .filter(({ network }) => network.environment === config.crosschainEnvironment)
    .flatMap((chain) => unifiedChainOf(chain) ?? [])
    .sort((left, right) => left.domain - right.domain)
}

/** Says why this server has no unified balance on the chain of a domain. */
export function whyNoBalance(environment: 'TEST' | 'LIVE', domain: number): string {
  const named = networkOfDomain(environment, domain)
  if (!named) return 'is no domain of a chain with a unified balance'
  return named.unifiedBalance
    ? 'is a chain that this server is not connected to'
    : `is the domain of ${named.blockchain}, on which this version has no unified balance`
}

/**
 * Whether contracts of the chain see heights of its parent chain as `block.number`: the last block of an attestation would
 * never be reached there. A local chain of that name counts its own blocks.
 */
export const countsParentBlocks = ({ chain: { local, network } }: UnifiedChain): boolean =>
  !local && network.countsParentBlocks === true

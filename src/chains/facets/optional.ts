import type { Chain } from '../chain.ts'

/** The facets that a family may lack. */
export type OptionalFacet =
  | 'gather'
  | 'authorizations'
  | 'lifetimes'
  | 'tokens'
  | 'contracts'
  | 'functions'
  | 'accounts'
  | 'crosschainPlanner'
  | 'nodeRead'

type ChainWith<Facet extends OptionalFacet> = Chain & { [name in Facet]-?: NonNullable<Chain[name]> }

export type ContractChain = ChainWith<'contracts'>

/** Tells which of several chains have the facet, for work on all of them. */
export const hasFacet = <Facet extends OptionalFacet>(
  chain: Chain,
  facet: Facet,
): chain is ChainWith<Facet> => chain[facet] !== undefined

/** Returns a facet for work that is refused before where `capabilitiesOf` lacks it, so that its absence is a defect. */
const requiring =
  <Facet extends OptionalFacet>(facet: Facet) =>
  (chain: Chain): NonNullable<Chain[Facet]> => {
    const found = chain[facet]
    if (found === undefined) throw new Error(`the family of ${chain.network.blockchain} has no ${facet}`)
    return found as NonNullable<Chain[Facet]>
  }

export const gatherOn = requiring('gather')
export const authorizationsOn = requiring('authorizations')
export const tokensOn = requiring('tokens')
export const contractsOn = requiring('contracts')
export const accountsOn = requiring('accounts')
export const crosschainPlannerOn = requiring('crosschainPlanner')
export const nodeReadOn = requiring('nodeRead')

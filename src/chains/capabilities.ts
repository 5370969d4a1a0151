import { type Blockchain, familyOf, isVirtual } from './blockchains.ts'
import type { OptionalFacet } from './facets/optional.ts'
import { families } from './families.ts'
import type { FamilyDeclaration } from './family.ts'

/** The operations that this program offers on a blockchain, once it is connected. */
type Capabilities = {
  /** The family of the keys of its accounts; `undefined` while custody derives none. */
  keys: FamilyDeclaration['keys'] | undefined
  /** This program connects to nodes of it; where it does not, wallets only sign, and hold nothing here. */
  connects: boolean
  /** Users can hold the keys of its wallets. */
  userWallets: boolean
  /** Shares the address of a wallet on another blockchain. */
  derive: boolean
  /** Has smart contract accounts. */
  smartAccounts: boolean
  /** The contracts that wallets call: any, or the functions of the chain itself that `Functions` lists. */
  calls: 'any' | 'listed' | undefined
  /** Tokens of any contract are followed, NFTs among them; elsewhere the tokens of the network data alone. */
  anyToken: boolean
  /** The faucet of a sandbox pays on it. */
  faucet: boolean
  /** The business account receives, holds and pays coins on it: it takes them from addresses that hold no fee. */
  businessAccount: boolean
}

/** Capabilities follow from what the family declares; `signingOn` has what its wallets sign. Names that stand for any chain only sign. */
export function capabilitiesOf(blockchain: Blockchain): Capabilities {
  const family = families[familyOf(blockchain)]
  const onChain = isVirtual(blockchain) ? undefined : family
  const has = (facet: OptionalFacet) => onChain?.facets.includes(facet) ?? false
  return {
    keys: family?.keys,
    connects: onChain?.connect !== undefined,
    userWallets: family?.userWallets ?? false,
    derive: family?.derives ?? false,
    smartAccounts: has('accounts'),
    calls: has('contracts') ? 'any' : has('functions') ? 'listed' : undefined,
    anyToken: has('tokens'),
    faucet: onChain?.hasLocalChains ?? false,
    businessAccount: has('gather'),
  }
}

import { type Blockchain, familyOf, isVirtual } from './blockchains.ts'
import type { OptionalFacet } from './facets/optional.ts'
import { families } from './families.ts'
import type { FamilyDeclaration } from './family.ts'

/** The operations that a chain may lack, by the names of the API, and what each of them means. */
export const chainCapabilities = {
  userWallets: 'users can hold the keys of its wallets',
  derive: 'a wallet can share the address of one on another blockchain',
  smartAccounts: 'it has smart contract accounts',
  contracts: 'contracts are deployed, imported, called and followed on it',
  anyToken: 'tokens of any contract are followed on it, NFTs among them',
  typedData: 'wallets sign typed data',
  crosschain: 'it has cross-chain messages',
  faucet: 'the faucet of a sandbox pays on it',
  feePayers: 'the treasury of an entity pays the fees of its wallets that lack the coins for them',
  signedPayments: 'payments that their payer signed are settled on it, as x402 asks for them',
  businessAccount:
    'the business account receives, holds and pays coins on it: it takes them from addresses that hold no fee',
} as const

export type ChainCapability = keyof typeof chainCapabilities

/** The operations that this program offers on a blockchain, once it is connected. */
type Capabilities = Record<ChainCapability, boolean> & {
  /** The family of the keys of its accounts; `undefined` while custody derives none. */
  keys: FamilyDeclaration['keys'] | undefined
  /** This program connects to nodes of it; where it does not, wallets only sign, and hold nothing here. */
  connects: boolean
  /** The contracts that wallets call: any, or the functions of the chain itself that `Functions` lists. */
  calls: 'any' | 'listed' | undefined
}

/** Capabilities follow from what the family declares. Names that stand for any chain only sign. */
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
    contracts: has('contracts'),
    calls: has('contracts') ? 'any' : has('functions') ? 'listed' : undefined,
    anyToken: has('tokens'),
    typedData: family?.signing?.typedData !== undefined,
    crosschain: has('crosschainPlanner'),
    faucet: onChain?.hasLocalChains ?? false,
    feePayers: onChain?.feePayers ?? false,
    signedPayments: has('authorizations'),
    businessAccount: has('gather'),
  }
}

/** The names of what a blockchain has. */
export function capabilityNames(blockchain: Blockchain): ChainCapability[] {
  const capabilities = capabilitiesOf(blockchain)
  return (Object.keys(chainCapabilities) as ChainCapability[]).filter((name) => capabilities[name])
}

import type { Hex } from '#lib/hex'
import type { Address, TxId } from '../addresses/types.ts'
import type { Block, BlockAt, ChainLog } from './blocks.ts'

/** The standards of tokens, as the API names them. The later ones are those of Solana. */
export const tokenStandards = [
  'ERC20',
  'ERC721',
  'ERC1155',
  'Fungible',
  'FungibleAsset',
  'NonFungible',
  'NonFungibleEdition',
  'ProgrammableNonFungible',
  'ProgrammableNonFungibleEdition',
] as const
export type TokenStandard = (typeof tokenStandards)[number]

/** Whether a token consists of items, which an id distinguishes. Balances are of such an item, and otherwise of the token. */
export const hasItems = (standard: string | null): boolean => standard === 'ERC721' || standard === 'ERC1155'

/** The standards of which a token is one NFT by itself. */
export const nftStandards: readonly string[] = tokenStandards.filter((each) => each.includes('NonFungible'))

/** Whether a token is an NFT, or a contract of NFTs. */
export const isNft = (standard: string | null): boolean =>
  hasItems(standard) || nftStandards.includes(standard ?? '')

/** The standard that the transfers of a token claim: on Solana they are alike, and only its mint tells more. */
export const claimedStandard = (standard: string): string =>
  hasItems(standard) || standard === 'ERC20' ? standard : 'Fungible'

/** Amounts of a token with more decimals do not fit the type of its balances. */
export const decimalsMax = 77

/** A transfer as the log of any contract claims it. Nothing but the balance of the contract proves it. */
export type ClaimedTransfer = {
  txHash: TxId
  logIndex: number
  /** The position of the item in a log of several items. */
  position: number
  token: Address
  standard: TokenStandard
  from: Address
  to: Address
  amountAtomic: bigint
  /** Absent where the token has no items. */
  itemId: bigint | undefined
  /** The account that took them, where an owner may have several. */
  toAccount?: Address
}

/**
 * The description of a token by its contract, within bounds; empty, or zero, where the contract gives none. `standard`: where the
 * token tells more of it than its transfers. `uri`: the address of the metadata of a token that is one NFT.
 */
export type TokenFacts = {
  name: string
  symbol: string
  decimals: number
  standard?: TokenStandard
  uri?: string | undefined
}

/** The reason why there is no token at an address; `no token` is a contract or account that follows no standard, or several. */
export type NoToken = 'no code' | 'no token'

/** The standard of a contract by its own answers, with the decimals of an ERC20 token. */
export type FoundStandard = { standard: TokenStandard; decimals?: number }

/** A balance to read. */
export type Holding = {
  token: Address
  standard: TokenStandard
  itemId: bigint | undefined
  owner: Address
}

type ItemAmount = { itemId: bigint; amountAtomic: bigint }

/** A change of the blocklist that the issuer of a token keeps in its contract. */
export type IssuerChange = { token: Address; address: Address; blocked: boolean }

/** Tokens of any contract. Contracts cost a node no more than a bounded amount of gas, and their answers are untrusted. */
export type Tokens = {
  /** The transfers that a block claims; logs that break the standards claim none. Never throws. */
  claimedIn(block: Block): ClaimedTransfer[]
  /** Whether an account is the one whose balance an owner of a token has; absent where owners have no others. */
  isAccountOf?(account: Address, owner: Address, token: Address): boolean
  /** The changes of issuers' blocklists that these logs claim, in their order. Never throws. */
  issuerChangesIn(logs: readonly ChainLog[]): IssuerChange[]
  /** Returns the addresses that the issuer of the token blocks at present; none where the contract keeps no such list. */
  blockedBy(token: Address, addresses: readonly Address[]): Promise<Address[]>
  findStandard(token: Address): Promise<FoundStandard | NoToken>
  /** Asks for decimals that are not given; `undefined` where the node, not the contract, refuses the call. */
  factsOf(token: Address, found: FoundStandard): Promise<TokenFacts | undefined>
  /** The balances at a recent block: 0 where the contract refuses the call, `undefined` where the node does. */
  balancesAt(block: BlockAt, holdings: readonly Holding[]): Promise<(bigint | undefined)[]>
  /** The addresses of the metadata of items; `undefined` where the contract returns none. */
  urisOf(items: readonly (Omit<Holding, 'owner'> & { itemId: bigint })[]): Promise<(string | undefined)[]>
  /** The call of `from` that moves items: one of an ERC721 contract, one or several of an ERC1155 contract. */
  itemsCall(
    token: Address,
    standard: TokenStandard,
    parties: { from: Address; to: Address },
    items: readonly ItemAmount[],
  ): { to: Address; valueAtomic: bigint; data: Hex }
}

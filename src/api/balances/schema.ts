import Type from 'typebox'
import { dateField, idField } from '#api/fields'
import { balanceShape, showToken, tokenShape } from '#api/sources/token-shape'
import { tokenStandards } from '#chains/facets/tokens'
import type { ItemBalance, TokenBalance } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

export const walletBalancesParams = idParams('WalletId', 'the wallet')

const standardField = Type.Enum([...tokenStandards], {
  title: 'TokenStandard',
  description: 'The standard of the token.',
})

export const balancesQuery = Type.Object({
  includeAll: Type.Optional(
    Type.Boolean({
      description: 'Also show tokens that are not monitored, or that are named like a listed token.',
    }),
  ),
  name: Type.Optional(Type.String({ description: 'The exact name of the token.' })),
  tokenAddress: Type.Optional(
    Type.String({
      description: 'Token addresses in any case, separated by commas. Empty means no filter.',
    }),
  ),
  standard: Type.Optional(standardField),
})

export const modularBalancesQuery = Type.Object({
  ...balancesQuery.properties,
  standard: Type.Optional(
    Type.Enum(['', ...tokenStandards], {
      title: 'ModularTokenStandard',
      description: 'The standard of the token; empty for the native coin alone.',
      '~recommended': [...tokenStandards],
    }),
  ),
})

export const balancesAnswer = Type.Object(
  { tokenBalances: Type.Array(balanceShape, { description: 'The balances, one for each token.' }) },
  { description: 'One page of balances.' },
)
const nftShape = Type.Object(
  {
    id: idField('The id of the NFT on this server, and its cursor.'),
    token: described(tokenShape, 'The token of the contract.'),
    amount: logged('amount', Type.String({ description: 'How many the wallet has: 1 of a unique one.' })),
    nftTokenId: Type.Optional(
      Type.String({
        description: 'The id of the NFT in its contract; absent where its token is one NFT, as on Solana.',
      }),
    ),
    metadata: Type.Optional(
      Type.String({
        description:
          'The address of the metadata, as the contract tells it. Where the server is set to fetch it, its JSON text, once it is fetched.',
      }),
    ),
    updateDate: dateField('The time of the latest change of the amount.'),
  },
  { title: 'Nft', description: 'An NFT of a wallet.' },
)
export const nftsAnswer = Type.Object(
  { nfts: Type.Array(nftShape, { description: 'The NFTs.' }) },
  { description: 'One page of NFTs.' },
)

export const showBalance = ({ postedAtomic, tokenCreateDate, updateDate, ...token }: TokenBalance) => ({
  token: showToken({ ...token, createDate: tokenCreateDate }),
  amount: formatAmount(postedAtomic, token.decimals),
  updateDate,
})

/** An ERC1155 contract names one address for all items, in which clients put the id: as 64 hexadecimal digits. */
export const uriOf = ({ uri, itemId }: ItemBalance): string | undefined =>
  itemId === null ? (uri ?? undefined) : uri?.replaceAll('{id}', itemId.toString(16).padStart(64, '0'))

/** `metadata`: the JSON text at the address, where it is known. */
export const showNft = (item: ItemBalance, metadata: string | undefined) => ({
  id: item.id,
  token: showToken({ ...item, id: item.collectionId, createDate: item.tokenCreateDate }),
  amount: item.postedAtomic.toString(),
  ...(item.itemId !== null && { nftTokenId: item.itemId.toString() }),
  ...(item.uri !== null && { metadata: metadata ?? uriOf(item) }),
  updateDate: item.updateDate,
})

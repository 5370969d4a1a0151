import Type from 'typebox'
import { balanceShape, showToken } from '#api/token-shape'
import type { TokenBalance } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'

export const walletParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

const standards = [
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

export const balancesQuery = Type.Object({
  includeAll: Type.Optional(Type.Boolean({ description: 'Also tokens that are not monitored.' })),
  name: Type.Optional(Type.String({ description: 'The exact name of the token.' })),
  tokenAddress: Type.Optional(
    Type.String({ description: 'Token addresses in any case, separated by commas; empty: not set.' }),
  ),
  standard: Type.Optional(Type.Enum([...standards])),
})

export const balancesAnswer = Type.Object({ tokenBalances: Type.Array(balanceShape) })
export const nftsAnswer = Type.Object({ nfts: Type.Array(Type.Object({})) })

export const showBalance = ({ postedAtomic, tokenCreateDate, updateDate, ...token }: TokenBalance) => ({
  token: showToken({ ...token, createDate: tokenCreateDate }),
  amount: formatAmount(postedAtomic, token.decimals),
  updateDate,
})

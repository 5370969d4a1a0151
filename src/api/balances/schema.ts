import Type from 'typebox'
import { balanceShape, showToken } from '#api/token-shape'
import type { TokenBalance } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { idParams } from '#runtime/http/openapi/annotate'

export const walletParams = idParams('WalletId', 'the wallet')

const standardField = Type.Enum(
  [
    'ERC20',
    'ERC721',
    'ERC1155',
    'Fungible',
    'FungibleAsset',
    'NonFungible',
    'NonFungibleEdition',
    'ProgrammableNonFungible',
    'ProgrammableNonFungibleEdition',
  ],
  { title: 'TokenStandard', description: 'The standard of the token.' },
)

export const balancesQuery = Type.Object({
  includeAll: Type.Optional(Type.Boolean({ description: 'Also show tokens that are not monitored.' })),
  name: Type.Optional(Type.String({ description: 'The exact name of the token.' })),
  tokenAddress: Type.Optional(
    Type.String({
      description: 'Token addresses in any case, separated by commas. Empty means no filter.',
    }),
  ),
  standard: Type.Optional(standardField),
})

export const balancesAnswer = Type.Object(
  { tokenBalances: Type.Array(balanceShape, { description: 'The balances, one for each token.' }) },
  { description: 'One page of balances.' },
)
export const nftsAnswer = Type.Object(
  { nfts: Type.Array(Type.Object({}), { description: 'Always empty.' }) },
  { description: 'The NFTs.' },
)

export const showBalance = ({ postedAtomic, tokenCreateDate, updateDate, ...token }: TokenBalance) => ({
  token: showToken({ ...token, createDate: tokenCreateDate }),
  amount: formatAmount(postedAtomic, token.decimals),
  updateDate,
})

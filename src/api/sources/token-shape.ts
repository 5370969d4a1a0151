import Type from 'typebox'
import { createDateField, dateField, idField, updateDateField } from '#api/fields'
import { isNft } from '#chains/facets/tokens'
import type { Token } from '#engines/ledger/tokens/index'
import { described } from '#runtime/http/openapi/annotate'

/** A token as every resource that carries one shows it. */
export const tokenShape = Type.Object(
  {
    id: idField('The id of the token.'),
    blockchain: Type.String({ description: 'The blockchain of the token.' }),
    name: Type.Optional(
      Type.String({ description: 'The name, such as USDC; absent where the contract tells none.' }),
    ),
    symbol: Type.Optional(
      Type.String({ description: 'The symbol, such as USDC; absent where the contract tells none.' }),
    ),
    decimals: Type.Optional(
      Type.Integer({ description: 'The number of decimal digits of the smallest unit; absent for NFTs.' }),
    ),
    isNative: Type.Boolean({ description: 'Whether it is the native coin, which pays for gas.' }),
    standard: Type.Optional(
      Type.String({ description: 'The standard of the token, such as ERC20; absent for the native coin.' }),
    ),
    tokenAddress: Type.Optional(
      Type.String({ description: 'The contract, or the mint; absent for the native coin.' }),
    ),
    updateDate: updateDateField,
    createDate: createDateField,
  },
  { title: 'Token', description: 'A coin or token that the server knows.' },
)

/** The balance of one token at an address. */
export const balanceShape = Type.Object(
  {
    token: described(tokenShape, 'The token.'),
    amount: Type.String({ description: 'The balance in whole tokens, as a decimal string.' }),
    updateDate: dateField('The time of the latest change of the balance.'),
  },
  { title: 'TokenBalance', description: 'The balance of one token.' },
)

export const showToken = (token: Token) => ({
  id: token.id,
  blockchain: token.blockchain,
  ...(token.name !== '' && { name: token.name }),
  ...(token.symbol !== '' && { symbol: token.symbol }),
  ...(!isNft(token.standard) && { decimals: token.decimals }),
  isNative: token.isNative,
  ...(token.standard !== null && { standard: token.standard }),
  ...(token.address !== null && { tokenAddress: token.address }),
  updateDate: token.createDate,
  createDate: token.createDate,
})

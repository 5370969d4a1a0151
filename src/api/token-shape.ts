import Type from 'typebox'
import type { Token } from '#engines/ledger/index'

/** A token as every resource that carries one shows it. */
export const tokenShape = Type.Object({
  id: Type.String({ format: 'uuid' }),
  blockchain: Type.String(),
  name: Type.String(),
  symbol: Type.String(),
  decimals: Type.Integer(),
  isNative: Type.Boolean(),
  standard: Type.Optional(Type.String()),
  tokenAddress: Type.Optional(Type.String({ description: 'Lower case; absent for the native coin.' })),
  updateDate: Type.String({ format: 'date-time' }),
  createDate: Type.String({ format: 'date-time' }),
})

/** The balance of one token at an address. */
export const balanceShape = Type.Object({
  token: tokenShape,
  amount: Type.String({ description: 'In whole tokens, as a decimal string.' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const showToken = (token: Token) => ({
  id: token.id,
  blockchain: token.blockchain,
  name: token.name,
  symbol: token.symbol,
  decimals: token.decimals,
  isNative: token.isNative,
  ...(token.standard !== null && { standard: token.standard }),
  ...(token.address !== null && { tokenAddress: token.address }),
  updateDate: token.createDate,
  createDate: token.createDate,
})

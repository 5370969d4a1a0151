import type { Hex } from '#lib/hex'
import type { Environment, TokenSymbol } from '../network.ts'

/** A token other than USDC that messages move, by the id that names it on every chain of an environment. */
export type MessageToken = { id: Hex; symbol: TokenSymbol }

/** The ids are those that published clients know. */
export const messageTokens: Readonly<Record<Environment, readonly MessageToken[]>> = {
  TEST: [{ id: '0x2587821a0ee7daa174b95436b5dab1731cfa1844775b010217d3c0dd02a4eecd', symbol: 'EURC' }],
  LIVE: [{ id: '0x6ca9e29fa53becc29becaf4a90b9ca7a995ad4d2234880da13ca38c657fb241c', symbol: 'EURC' }],
}

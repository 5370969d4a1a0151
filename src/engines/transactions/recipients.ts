import type { Call, Chain } from '#chains/chain'
import type { Operation } from '#custody/index'

/**
 * The addresses that a call gives value to, gives power over value to, or calls, as policy decodes it: recipients inside
 * calldata too. What unknown functions do with their arguments is not known.
 */
export const recipientsOf = (chain: Chain, call: Call): string[] => [
  ...new Set([
    ...(call.to === undefined ? [] : [call.to.toLowerCase()]),
    ...chain.decodeCall(call).effects.flatMap(recipientsIn),
  ]),
]

/** The addresses of one effect. */
export function recipientsIn(effect: Operation['effects'][number]): string[] {
  if ('destination' in effect) return effect.destination === undefined ? [] : [effect.destination]
  return 'contract' in effect && effect.contract !== 'none' ? [effect.contract] : []
}

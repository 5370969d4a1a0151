import type { Address } from '../../addresses/types.ts'
import type { BlockAt, BlockRef } from '../../facets/blocks.ts'
import {
  alive,
  type ExpiringTransaction,
  type Expiry,
  type LifeVerdict,
  type OwnBlocks,
} from '../../facets/lifetimes.ts'

/** As long as pools keep a transaction: a longer life would need bytes that are sent again to be used. */
const lifeMs = 600_000

/** Expiries are whole seconds of the chain's clock, which may be behind ours. */
export const expiryAfter = ({ timeMs }: Pick<BlockRef, 'timeMs'>): Expiry => ({
  expiresMs: Math.ceil(timeMs / 1_000) * 1_000 + lifeMs,
})

/**
 * Proves that a transaction is dead: a final block of ours has a time from its expiry on, no block of ours from its signature to that
 * one has it, and after that block its sender had not used its nonce. `nonceAt` asks as many nodes as a conclusion needs.
 */
export async function lifeOf(
  { hash, from, nonce, expiresMs, signedAt }: ExpiringTransaction,
  own: OwnBlocks,
  nonceAt: (address: Address, block: BlockAt) => Promise<number>,
): Promise<LifeVerdict> {
  if (expiresMs === null) return alive('it has no time of expiry')
  const user = await own.userOf(from, nonce)
  if (user === hash) return { kind: 'included' }
  if (user !== undefined) return { kind: 'displaced', by: user }
  if (own.from > signedAt + 1)
    return alive(`blocks from ${signedAt + 1} to ${own.from - 1}, which may have it, were not read`)
  // Seconds of the chain, as its nodes compare them.
  if (Math.floor(own.last.timeMs / 1_000) < expiresMs / 1_000)
    return alive(`block ${own.last.number}, the last final one, is before its expiry`)
  try {
    const nextNonce = await nonceAt(from, own.last)
    if (nextNonce > nonce) return alive('its sender has used its nonce in no block that was read')
    const { number, hash: blockHash, timeMs } = own.last
    return { kind: 'dead', proof: { block: { number, hash: blockHash, timeMs }, expiresMs, nextNonce } }
  } catch (error) {
    return alive(`the nodes do not tell the nonce of its sender: ${(error as Error).message}`)
  }
}

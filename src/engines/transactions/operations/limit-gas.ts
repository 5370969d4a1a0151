/**
 * Limits the gas that the treasury of an entity pays for on one chain within a day: of one wallet, and of all of them. Pages,
 * whose key is public, and developers have limits of their own, and the operations of both count in both.
 */
import type { Scope } from '#runtime/scope'
import { type PromisedGas, sponsoredGas } from '../store/sponsorships.ts'

const dayMs = 86_400_000

/** The gas that one operation may use. A bundle with more fits into the blocks of some chains alone. */
export const operationGasMax = 8_000_000n

/** The origin of an operation: a page, in which the owner of a modular wallet signs, or a developer with an API key. */
export type Asker = 'page' | 'developer'

/** `used`: the gas that is taken of `max`. */
export type GasLimit = { whose: string; used: bigint; max: bigint }

type GasOwner = Pick<PromisedGas, 'entityId' | 'blockchain' | 'walletId'>

/** The limits of a wallet's next operation. They hold until the `tx` ends, if it has locked the sponsorships. */
export async function gasLimitsOf(
  { db, clock, config }: Scope,
  owner: GasOwner,
  asker: Asker,
): Promise<GasLimit[]> {
  const nowMs = clock.nowMs()
  const { ofEntity, ofWallet } = await sponsoredGas(db, owner, nowMs - dayMs, nowMs)
  const [perWallet, perEntity] =
    asker === 'page'
      ? [config.sponsoredGasPerWallet, config.sponsoredGasPerEntity]
      : [config.developerGasPerWallet, config.developerGasPerEntity]
  return [
    { whose: 'of this wallet', used: ofWallet, max: BigInt(perWallet) },
    { whose: 'of all wallets', used: ofEntity, max: BigInt(perEntity) },
  ]
}

/** Says which limit an operation with this much gas exceeds; `undefined` when it exceeds none. */
export function excessOf(limits: readonly GasLimit[], gas: bigint, blockchain: string): string | undefined {
  const exceeded = limits.find(({ used, max }) => used + gas > max)
  if (!exceeded) return undefined
  const { whose, used, max } = exceeded
  return `The operation may use ${gas} gas, and ${used} of the ${max} ${whose} that are paid for on ${blockchain} within a day are taken: try later.`
}

/** The limits after an operation with this much gas. */
export const lessBy = (limits: readonly GasLimit[], gas: bigint): GasLimit[] =>
  limits.map((limit) => ({ ...limit, used: limit.used + gas }))

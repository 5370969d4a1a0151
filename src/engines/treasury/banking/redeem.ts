import type { BankRail, RedemptionPlace } from '#engines/bank-rail'
import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { openRedemption } from '../disbursements/index.ts'
import { treasuriesOf } from '../store/treasuries.ts'
import { treasuryCoins } from '../treasuries.ts'
import type { BankAccount } from './store/accounts.ts'

/**
 * Accepts a payout of dollars to a linked account, on the chain where the treasury has most coins. Returns its id. Throws
 * `InsufficientFunds` when the available balance is too low.
 */
export async function redeem(
  ctx: Ctx,
  rail: BankRail,
  { id, description }: BankAccount,
  amount: bigint,
): Promise<string> {
  const { network, token, address } = await richestPlace(ctx, rail.places(ctx.chains))
  return openRedemption(ctx, {
    blockchain: network.blockchain,
    toAddress: address,
    currency: token.currency!,
    tokenId: token.id,
    amount,
    bankAccountId: id,
    bankAccountName: description,
  })
}

async function richestPlace(ctx: Ctx, places: readonly RedemptionPlace[]): Promise<RedemptionPlace> {
  const [first] = places
  if (!first) throw new ApiError('chainNotStarted')
  if (places.length === 1) return first
  const treasuries = await treasuriesOf(ctx.db, ctx.entity.id)
  let richest = { place: first, coins: -1n }
  for (const place of places) {
    const treasury = treasuries.find(({ blockchain }) => blockchain === place.network.blockchain)
    const coins = treasury ? await treasuryCoins(ctx.db, treasury, place.token.id) : 0n
    if (coins > richest.coins) richest = { place, coins }
  }
  return richest.place
}

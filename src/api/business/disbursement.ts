import { requireTokenNetwork } from '#api/sources/token-network'
import { stablecoinIn } from '#chains/network'
import type { Ctx } from '#engines/ctx'
import { currencyDecimals } from '#engines/ledger/index'
import { type Destination, isOwnPocket, type Leaving } from '#engines/treasury/disbursements/index'
import type { ErrorName } from '#lib/error-kinds'
import { invalid } from '#lib/errors'
import { readAmount } from './read-amount.ts'

type Money = { amount: string; currency: string }

/** Reads the amount and currency of a payout or transfer; an error of the currency is reported first. */
export function readMoney(money: Money, notPositive: ErrorName): { amount: bigint; currency: string } {
  const { currency } = money
  if (currency !== 'USD' && currency !== 'EUR')
    throw invalid({
      at: 'amount.currency',
      reason: 'must be USD or EUR',
      value: currency,
      kind: 'currencyUnsupportedForOperation',
    })
  if (/^-\d+(\.\d+)?$/.test(money.amount))
    throw invalid({
      at: 'amount.amount',
      reason: 'must be above zero',
      value: money.amount,
      kind: notPositive,
      error: 'min_value',
    })
  return { amount: readAmount('amount.amount', money.amount, currencyDecimals, notPositive), currency }
}

/** The destination on chain and the token of an outgoing payment, or the documented error at the field of its chain or address. */
export async function requirePaymentDestination(
  ctx: Ctx,
  at: { chain: string; address: string },
  { chain, address }: { chain: string; address: string },
  { amount, currency }: { amount: bigint; currency: string },
): Promise<Destination & Leaving & { decimals: number }> {
  const { network, decimals } = requireTokenNetwork(ctx, at.chain, chain, currency, 'amount.currency')
  const { blockchain } = network
  const token = stablecoinIn(network, currency)!
  if (await isOwnPocket(ctx.db, { entityId: ctx.entity.id, blockchain, address }))
    throw invalid({
      at: at.address,
      reason: 'is an address of this account: choose an external one',
      value: address,
      kind: 'addressUnpayable',
    })
  return { chain, blockchain, toAddress: address, currency, tokenId: token.id, decimals, amount }
}

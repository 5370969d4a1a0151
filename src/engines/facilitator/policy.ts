/** Policy over settlements, in the words of the protocol. */
import type { Chain } from '#chains/chain'
import { stablecoinAt, unitsOfBooks } from '#chains/network'
import { highestCostOf } from '#chains/prices'
import { type SettlementDenial, type SettlementTerms, settlementPoliciesOf } from '#custody/settlements/index'
import type { Ctx } from '#engines/ctx'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'
import { type PaymentRefusal, refusedFor } from './reasons.ts'
import type { SignedPayment } from './store.ts'
import type { OfferedPayment } from './verify.ts'
import { verifyOffered } from './verify-offered.ts'

/**
 * A payment as rules count it, with the most that its transaction takes now: a payment of nothing has none. Throws `unavailable` where
 * no node tells the price.
 */
export async function settlementTerms(chain: Chain, payment: SignedPayment): Promise<SettlementTerms> {
  const { network } = chain
  const { blockchain, to: destination, gasMax } = payment
  const price = await suggestedFees(chain).catch(() => undefined)
  if (!price)
    throw new ApiError(
      'unavailable',
      `The nodes of ${blockchain} tell no price of gas: ask again in a moment.`,
    )
  const coin = stablecoinAt(network, payment.token)
  const isNative = coin?.id === network.nativeToken.id
  return {
    blockchain,
    token: isNative ? 'native' : payment.token,
    destination,
    amountAtomic: payment.amountAtomic * (coin ? unitsOfBooks(network, coin) : 1n),
    feeMaxAtomic:
      payment.amountAtomic === 0n ? 0n : highestCostOf(chain, gasMax, feeAt(price, 'MEDIUM').maxFeeAtomic),
  }
}

/** The refusal of a payment that would not be settled now; nothing is recorded. Throws `unavailable` where no node answers. */
export async function refusalNow(ctx: Ctx, offered: OfferedPayment): Promise<PaymentRefusal | undefined> {
  const policies = await settlementPoliciesOf(ctx)
  // Limits on fees need what the payment takes; a verdict alone is had for less.
  const verified = await verifyOffered(ctx, offered, policies.countFees ? 'estimated' : 'most')
  if ('reason' in verified) return verified
  if (policies.areSilent) return undefined
  const denial = await policies.denialOf(await settlementTerms(offered.chain, verified))
  return denial && refusedByPolicy(denial)
}

const subjects = { entity: 'entity', apiKey: 'API key', walletSet: 'wallet set', wallet: 'wallet' } as const

/** Names the rule and not its amounts: sellers pass messages on to their buyers, and the log has the rest. */
export function refusedByPolicy({ policy, at, isFull }: SettlementDenial): PaymentRefusal {
  const { scope, subjectId, version } = policy
  const rule = `The rule is ${at} of the ${subjects[scope]} ${subjectId}, version ${version}.`
  return refusedFor(isFull ? 'policy_limit_reached' : 'policy_denied', rule)
}

import type { Chain } from '#chains/chain'
import { contractsOn } from '#chains/facets/optional'
import type { PermitTerms } from '#chains/facets/permits'
import type { Ctx, EngineCtx } from '#engines/ctx'
import { openPayer } from '#engines/treasury/index'
import { creationOf } from './account-creation.ts'
import { paymentCallOf } from './payment-call.ts'
import { permitsOn, refusalOfPermitRevert, refusedPermitOffer } from './permits.ts'
import { type PaymentRefusal, refusedFor } from './reasons.ts'
import type { SignedPayment } from './store.ts'
import {
  type GasOfVerdict,
  gasOfPayment,
  isExpiring,
  isSignedByKey,
  type OfferedPayment,
  timeProblem,
} from './verify.ts'

type SignedPermit = OfferedPayment['signed'] & { permit: PermitTerms }

/**
 * Checks a payment by Permit2: by its terms, and by a simulation on a node, which proves number, signature, approval and balance. A
 * payment of nothing is simulated as one of the whole. Throws `unavailable` where no node answers.
 */
export async function verifyPermit(
  ctx: Ctx,
  offered: OfferedPayment,
  permit: PermitTerms,
  gas: GasOfVerdict,
): Promise<PaymentRefusal | SignedPayment> {
  const { chain, required } = offered
  const signed = { ...offered.signed, permit }
  const refused = refusedPermitOffer(signed, required) ?? refusedTimes(ctx, chain, signed)
  if (refused) return refused
  if (permit.sender !== undefined && permit.sender !== (await openPayer(ctx, ctx.entity.id, chain)).address)
    return refusedFor('upto_facilitator_mismatch')
  // A call of an address without code succeeds, and moves nothing.
  if (!(await contractsOn(chain).hasCode(permitsOn(chain).spenderOf(permit.scheme))))
    return refusedFor('permit2_proxy_not_deployed')
  const creation = await creationOf(chain, signed)
  if ('reason' in creation) return creation
  const isOfKey = await isSignedByKey(chain, signed)
  const amountAtomic = signed.amountAtomic === 0n ? permit.maxAtomic : signed.amountAtomic
  const tried = { ...signed, isOfKey, ...creation, amountAtomic }
  const call = paymentCallOf(chain, tried)
  const found = await gasOfPayment(chain, permit.sender ?? required.payTo, call, gas)
  if ('revert' in found) return diagnosed(chain, tried, found.revert)
  return { ...signed, isOfKey, ...creation, ...found }
}

/** The terms that the clock decides. */
function refusedTimes(ctx: EngineCtx, chain: Chain, signed: SignedPermit): PaymentRefusal | undefined {
  if (signed.permit.maxAtomic === 0n) return refusedFor('permit2_invalid_amount')
  const problem = timeProblem(ctx, chain, signed)
  if (problem) return refusedFor(problem === 'end' ? 'permit2_deadline_expired' : 'permit2_not_yet_valid')
  const { approval } = signed.permit
  return approval && isExpiring(ctx, chain, approval) ? refusedFor('eip2612_deadline_expired') : undefined
}

/** The refusal of a payment that reverts. Permit2 does not tell why a token refuses: the payer's coins and its approval do. */
async function diagnosed(
  chain: Chain,
  { token, from, amountAtomic }: SignedPermit,
  revert: string,
): Promise<PaymentRefusal> {
  const refusal = refusalOfPermitRevert(revert)
  if (refusal.reason !== 'permit2_simulation_failed') return refusal
  if ((await chain.balances.of(from, token)) < amountAtomic) return refusedFor('permit2_insufficient_balance')
  return (await permitsOn(chain).allowanceOf(token, from)) < amountAtomic
    ? refusedFor('permit2_allowance_required')
    : refusal
}

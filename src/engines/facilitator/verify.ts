import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { domainSeparatorOf } from '#chains/domain-separators'
import { authorizationsOn } from '#chains/facets/optional'
import type { Call } from '#chains/facets/payments'
import type { EngineCtx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { creationOf } from './account-creation.ts'
import { paymentCallOf } from './payment-call.ts'
import { permitsOn, refusedPermitOffer } from './permits.ts'
import { type PaymentRefusal, refusalOfRevert, refusedFor } from './reasons.ts'
import type { SignedPayment } from './store.ts'

/** A payment as its payer signed it, and the payment that is required. */
export type OfferedPayment = {
  chain: Chain
  signed: Omit<SignedPayment, 'isOfKey' | 'createsAccount' | 'gasMax'>
  /** `withinMs`: the longest that the seller waits. */
  required: { payTo: Address; amountAtomic: bigint; withinMs?: number | undefined }
  /** The payer's name for what it pays for. */
  identifier: string | undefined
}

/** Seconds that an authorization must be valid yet, so that a block can have it: at least these, and two blocks. */
const leastValidSeconds = 6
/** The longest that it may be valid: what waits for it holds up what the treasury sends after it. */
const longestValidSeconds = 86_400n
/** The most gas of a payment. The contract of a payer decides how much its signature takes, and the treasury pays for it. */
const gasOfPaymentMax = 1_000_000n
/** A payment that is sent needs an estimate, which executes it several times; a verdict does not, and has the most that it may take. */
export type GasOfVerdict = 'estimated' | 'most'
/** The most of a simulation, of which a fifth more is the limit of the transaction. */
const gasOfSimulationMax = (gasOfPaymentMax * 5n) / 6n

/**
 * Checks a payment: by its terms, by its signature, and by a simulation on a node, which proves balance, nonce and the signatures of
 * contracts. Throws `unavailable` where no node answers.
 */
export async function verifyPayment(
  ctx: EngineCtx,
  { chain, signed, required }: OfferedPayment,
  gas: GasOfVerdict,
): Promise<PaymentRefusal | SignedPayment> {
  const refused = refusedTerms(ctx, chain, signed, required)
  if (refused) return refused
  const isOfKey = await isSignedByKey(chain, signed)
  const creation = await creationOf(chain, signed)
  if ('reason' in creation) return creation
  const call = paymentCallOf(chain, { ...signed, isOfKey, ...creation })
  const found = await gasOfPayment(chain, required.payTo, call, gas)
  if (!('revert' in found)) return { ...signed, isOfKey, ...creation, ...found }
  // The contract that creates an account before it pays does not tell why the token refuses.
  if (creation.createsAccount && (await chain.balances.of(signed.from, signed.token)) < signed.amountAtomic)
    return refusedFor('invalid_exact_evm_insufficient_balance')
  return refusalOfRevert(found.revert)
}

/**
 * The gas that a payment may use, by a simulation as `from` sends it, or the reason why it cannot be made. Throws `unavailable` where
 * no node answers.
 */
export async function gasOfPayment(
  chain: Chain,
  from: Address,
  call: Call,
  gas: GasOfVerdict,
): Promise<{ gasMax: bigint } | { revert: string }> {
  const { tryPayment, estimatePayment } = authorizationsOn(chain)
  const simulate = gas === 'estimated' ? estimatePayment : tryPayment
  const found = await simulate(from, call, gasOfSimulationMax)
  if (found.kind === 'executed') return { gasMax: gasOfPaymentMax }
  if (found.kind === 'estimated') return { gasMax: chain.offers.limitOf(found.gas, 'call') }
  if (found.kind === 'unknown')
    throw new ApiError(
      'unavailable',
      `The nodes of ${chain.network.blockchain} give no answer about the payment: ask again in a moment.`,
    )
  return { revert: found.message }
}

/** Whether the key of the payer made the signature; a contract may have made another one. */
export async function isSignedByKey(chain: Chain, signed: OfferedPayment['signed']): Promise<boolean> {
  const { permit } = signed
  if (permit)
    return (await permitsOn(chain).signerOf({ ...signed, permit }, signed.signature)) === signed.from
  const separator = await domainSeparatorOf(chain, signed.token)
  return (await authorizationsOn(chain).signerOf(separator, signed, signed.signature)) === signed.from
}

/** The refusal of a payment of another payee or amount than the seller requires. */
export function refusedOffer(
  { to, amountAtomic, permit }: Pick<SignedPayment, 'to' | 'amountAtomic' | 'permit'>,
  required: OfferedPayment['required'],
): PaymentRefusal | undefined {
  if (permit) return refusedPermitOffer({ to, amountAtomic, permit }, required)
  if (to !== required.payTo) return refusedFor('invalid_exact_evm_recipient_mismatch')
  if (amountAtomic !== required.amountAtomic)
    return refusedFor('invalid_exact_evm_payload_authorization_value_mismatch')
  return undefined
}

/** The terms that no node is needed for. */
function refusedTerms(
  ctx: EngineCtx,
  chain: Chain,
  signed: OfferedPayment['signed'],
  required: OfferedPayment['required'],
): PaymentRefusal | undefined {
  const unlike = refusedOffer(signed, required)
  if (unlike) return unlike
  if (signed.amountAtomic === 0n) return refusedFor('invalid_exact_evm_authorization_value')
  const problem = timeProblem(ctx, chain, signed)
  if (problem === 'end') return refusedFor('invalid_exact_evm_payload_authorization_valid_before')
  return problem && refusedFor('invalid_exact_evm_payload_authorization_valid_after')
}

/** Whether a payment ends too soon or too late to be sent, or has not begun. */
export function timeProblem(
  ctx: EngineCtx,
  chain: Chain,
  { validAfter, validBefore }: OfferedPayment['signed'],
): 'end' | 'begin' | undefined {
  const now = secondsOf(ctx)
  if (isExpiring(ctx, chain, { validBefore }) || validBefore > now + longestValidSeconds) return 'end'
  return validAfter > now ? 'begin' : undefined
}

const secondsOf = ({ clock }: EngineCtx) => BigInt(Math.floor(clock.nowMs() / 1000))

/** Whether an authorization expires before a block can have it. */
export function isExpiring(
  ctx: EngineCtx,
  { network }: Chain,
  { validBefore }: Pick<SignedPayment, 'validBefore'>,
): boolean {
  const leastSeconds = Math.max(leastValidSeconds, Math.ceil((2 * network.blockTimeMs) / 1000))
  return validBefore < secondsOf(ctx) + BigInt(leastSeconds)
}

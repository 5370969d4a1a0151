import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { authorizationsOn } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { type PaymentRefusal, refusalOfRevert, refusedFor } from './reasons.ts'
import type { SignedPayment } from './store.ts'

/** A payment as its payer signed it, and the payment that is required. */
export type OfferedPayment = {
  chain: Chain
  signed: Omit<SignedPayment, 'isOfKey'>
  required: { payTo: Address; amountAtomic: bigint }
}

/** Seconds that an authorization must be valid yet, so that a block can have it. */
const leastValidSeconds = 6n

/**
 * Checks a payment: by its terms, by its signature, and by a simulation on a node, which proves balance, nonce and the signatures of
 * contracts. Throws `unavailable` where no node answers.
 */
export async function verifyPayment(
  ctx: EngineCtx,
  { chain, signed, required }: OfferedPayment,
): Promise<PaymentRefusal | SignedPayment> {
  const refused = refusedTerms(ctx, signed, required)
  if (refused) return refused
  const authorizations = authorizationsOn(chain)
  const separator = await domainSeparatorOf(chain, signed.token)
  const signer = await authorizations.signerOf(separator, signed, signed.signature)
  const payment = { ...signed, isOfKey: signer === signed.from }
  const call = authorizations.authorizedPayment(signed.token, signed, signed.signature, payment.isOfKey)
  const estimate = await chain.offers.estimateGas(required.payTo, call)
  if (estimate.kind === 'estimated') return payment
  if (estimate.kind === 'unknown')
    throw new ApiError(
      'unavailable',
      `The nodes of ${signed.blockchain} give no answer about the payment: ask again in a moment.`,
    )
  return refusalOfRevert(estimate.message)
}

/** The refusal of a payment of another payee or amount than the seller requires. */
export function refusedOffer(
  { to, amountAtomic }: Pick<SignedPayment, 'to' | 'amountAtomic'>,
  required: OfferedPayment['required'],
): PaymentRefusal | undefined {
  if (to !== required.payTo) return refusedFor('invalid_exact_evm_recipient_mismatch')
  if (amountAtomic !== required.amountAtomic)
    return refusedFor('invalid_exact_evm_payload_authorization_value_mismatch')
  return undefined
}

/** The terms that no node is needed for. */
function refusedTerms(
  { clock }: EngineCtx,
  { to, amountAtomic, validAfter, validBefore }: SignedPayment | OfferedPayment['signed'],
  required: OfferedPayment['required'],
): PaymentRefusal | undefined {
  const unlike = refusedOffer({ to, amountAtomic }, required)
  if (unlike) return unlike
  const now = BigInt(Math.floor(clock.nowMs() / 1000))
  if (validBefore < now + leastValidSeconds)
    return refusedFor('invalid_exact_evm_payload_authorization_valid_before')
  if (validAfter > now) return refusedFor('invalid_exact_evm_payload_authorization_valid_after')
  return undefined
}

/** Whether an authorization expires before a block can have it. */
export const isExpiring = (
  { clock }: EngineCtx,
  { validBefore }: Pick<SignedPayment, 'validBefore'>,
): boolean => validBefore < BigInt(Math.floor(clock.nowMs() / 1000)) + leastValidSeconds

const separators = new WeakMap<Chain, Map<Address, Hex>>()

async function domainSeparatorOf(chain: Chain, token: Address): Promise<Hex> {
  const known = separators.get(chain.shared) ?? new Map<Address, Hex>()
  separators.set(chain.shared, known)
  const separator = known.get(token) ?? (await authorizationsOn(chain).domainSeparatorOf(token))
  known.set(token, separator)
  return separator
}

import type { Chain } from '#chains/chain'
import { authorizationsOn } from '#chains/facets/optional'
import type { Permits, PermitTerms } from '#chains/facets/permits'
import { permitReverts } from './permit-reasons.ts'
import { type PaymentRefusal, type RefusedReason, refusedFor } from './reasons.ts'
import type { SignedPayment } from './store.ts'

/** The permits of a chain whose capability was checked before. */
export function permitsOn(chain: Chain): Permits {
  const { permits } = authorizationsOn(chain)
  if (permits === undefined) throw new Error(`${chain.network.blockchain} has no permits`)
  return permits
}

/** The refusal of a permit for another payee or amount than the seller requires. */
export function refusedPermitOffer(
  { to, amountAtomic, permit }: Pick<SignedPayment, 'to' | 'amountAtomic'> & { permit: PermitTerms },
  required: { payTo: string; amountAtomic: bigint },
): PaymentRefusal | undefined {
  if (to !== required.payTo) return refusedFor('invalid_permit2_recipient_mismatch')
  if (amountAtomic !== required.amountAtomic) return refusedFor('permit2_amount_mismatch')
  return amountAtomic > permit.maxAtomic
    ? refusedFor('invalid_upto_evm_payload_settlement_exceeds_amount')
    : undefined
}

/** Whether both are no permits, or permits of the same terms. An approval is none of them: it may be needed no more. */
export const isSamePermit = (one: PermitTerms | undefined, other: PermitTerms | undefined): boolean =>
  one?.scheme === other?.scheme && one?.maxAtomic === other?.maxAtomic && one?.sender === other?.sender

/** The refusal that a revert of a payment by Permit2 means. */
export const refusalOfPermitRevert = (
  text: string,
  otherwise: RefusedReason = 'permit2_simulation_failed',
): PaymentRefusal => {
  const reason = permitReverts.find(([pattern]) => pattern.test(text))?.[1] ?? otherwise
  return refusedFor(reason, `The contract says: ${text.slice(0, 300)}`)
}

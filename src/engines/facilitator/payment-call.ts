import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { authorizationsOn } from '#chains/facets/optional'
import type { Call } from '#chains/facets/payments'
import { permitsOn } from './permits.ts'
import type { SignedPayment } from './store.ts'

/** The call that makes a payment. */
export function paymentCallOf(
  chain: Chain,
  { permit, ...signed }: Omit<SignedPayment, 'gasMax'>,
): Call & { to: Address } {
  const { token, isOfKey, createsAccount } = signed
  const { firstPayments, authorizedPayment } = authorizationsOn(chain)
  const wrapped = firstPayments?.unwrapped(signed.signature)
  const signature = wrapped?.signature ?? signed.signature
  if (permit) return permitsOn(chain).permittedPayment({ ...signed, permit }, signature)
  const call = { ...authorizedPayment(token, signed, signature, isOfKey), to: token }
  return createsAccount && wrapped ? firstPayments!.createdFirst(wrapped, call) : call
}

import type { Chain } from '#chains/chain'
import { authorizationsOn, contractsOn } from '#chains/facets/optional'
import { type PaymentRefusal, refusedFor } from './reasons.ts'
import type { SignedPayment } from './store.ts'

/**
 * Whether the account of a payer has to be created before it pays, or the reason why this server does not: the treasury pays for the
 * creation, and makes no call but the one that creates this account from code that it knows.
 */
export async function creationOf(
  chain: Chain,
  { from, signature, permit }: Pick<SignedPayment, 'from' | 'signature' | 'permit'>,
): Promise<{ createsAccount: boolean } | PaymentRefusal> {
  const { firstPayments } = authorizationsOn(chain)
  const wrapped = firstPayments?.unwrapped(signature)
  const { hasCode } = contractsOn(chain)
  if (!firstPayments || !wrapped || (await hasCode(from))) return { createsAccount: false }
  if (permit)
    return refusedFor('smart_wallet_deployment_failed', 'An account pays by Permit2 once it is deployed.')
  if (firstPayments.createdAccount(wrapped) !== from) return refusedFor('eip6492_factory_not_allowed')
  return (await hasCode(firstPayments.batcher))
    ? { createsAccount: true }
    : refusedFor(
        'smart_wallet_deployment_failed',
        `The network has no Multicall3 at ${firstPayments.batcher}.`,
      )
}

import type { Static } from 'typebox'
import { showMoney } from '#api/business/money'
import { readAmount } from '#api/business/read-amount'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { capabilitiesOf } from '#chains/capabilities'
import { stablecoinIn } from '#chains/network'
import type { Ctx } from '#engines/ctx'
import { findAccountByReference } from '#engines/treasury/banking/index'
import { acceptWire } from '#engines/treasury/deposits/index'
import { allowRebalancingInSandbox } from '#engines/treasury/rebalancing/index'
import { ApiError, invalid } from '#lib/errors'
import type { newWireSchema } from './schema.ts'

/** Digits of a bank amount after the point: cents. */
const centDigits = 2
/** A billion dollars. */
const centsMax = 10n ** 11n

/** Simulates an incoming wire: the sandbox mints its dollars to the treasury of the account. */
export async function receiveWire(ctx: SandboxCtx, { body }: { body: Static<typeof newWireSchema> }) {
  const { trackingRef, beneficiaryBank } = body
  if (!ctx.faucet || ctx.entity.environment !== 'TEST')
    throw new ApiError('forbidden', 'Forbidden: only a sandbox simulates wires, and only for a TEST key.')
  const cents = readAmount('amount.amount', body.amount.amount, centDigits, 'paymentAmountNotPositive')
  if (cents > centsMax)
    throw invalid({
      at: 'amount.amount',
      reason: 'exceeds 1000000000.00, the maximum of a wire',
      value: body.amount.amount,
      error: 'max_value',
    })
  const { network, token } = placeOfWire(ctx)
  const account = await findAccountByReference(ctx.db, ctx.entity.id, trackingRef)
  if (account && account.status !== 'complete')
    throw invalid({
      at: 'trackingRef',
      reason: `is of a bank account whose status is ${account.status}: send wires from one that is complete`,
      value: trackingRef,
    })
  const amount = cents * 10n ** BigInt(token.decimals - centDigits)
  await acceptWire(ctx, {
    entityId: ctx.entity.id,
    actor: ctx.actor,
    requestId: ctx.requestId,
    network,
    currency: 'USD',
    decimals: token.decimals,
    amount,
    trackingRef,
    accountNumber: beneficiaryBank.accountNumber,
    bankAccountId: account?.id ?? null,
  })
  // The coins are minted on one chain: payments on others are paid with them too.
  await allowRebalancingInSandbox(ctx.db, ctx.entity.id, ctx.receivedMs)
  const { accountNumber } = beneficiaryBank
  return {
    trackingRef,
    amount: showMoney(amount, 'USD'),
    beneficiaryBank: { accountNumber },
    status: 'pending',
  }
}

/** The first chain that the sandbox started, and where it mints dollars that the business account can pay with. */
function placeOfWire(ctx: Ctx) {
  for (const { network, local } of ctx.chains.list()) {
    const token = stablecoinIn(network, 'USD')
    const { faucet, businessAccount } = capabilitiesOf(network.blockchain)
    if (local && token && faucet && businessAccount) return { network, token }
  }
  throw new ApiError(
    'chainNotStarted',
    'This sandbox has started no chain on which the business account pays: add one to --chains, such as BASE-SEPOLIA.',
  )
}

/**
 * Settles payments that their payers signed (x402): a seller asks, the authorization is recorded, and the treasury of the seller's
 * entity sends it. What is paid never belongs to this server. Woken by NOTIFY `chain_work`; any number of processes may run.
 *
 * Facilitator: the service that verifies and settles payments for sellers. Authorization: the permission of a payer to move coins.
 */
import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import type { GasFaucet } from '#engines/treasury/index'
import type { Service } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn } from '#runtime/turns/store'
import { submitPayments } from './submit.ts'

export { refusalNow } from './policy.ts'
export { type PaymentRefusal, refusedFor, refusedReasons } from './reasons.ts'
export { isFinal, type Settlement, settlePayment, shownSettlement } from './settle.ts'
export { findSignedPayment, type SettledPayment } from './store.ts'
export type { OfferedPayment } from './verify.ts'

/** Starts sending payments on all chains; `gasFaucet` gives gas to treasuries on local chains. */
export const startFacilitator = (ctx: EngineCtx, gasFaucet?: GasFaucet): Service =>
  startChainLoops(ctx, (chain) => {
    if (!chain.authorizations) return []
    const { blockchain } = chain.network
    const turn = newTurn('settling signed payments')
    return [
      repeat(
        () => submitPayments(ctx, chain, turn, gasFaucet),
        logTrouble(ctx.log, 'settling signed payments', { blockchain }),
      ),
    ]
  })

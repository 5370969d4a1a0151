/**
 * Unified balances: what depositors hold in the wallet contracts of several chains, spent by attested transfers that are minted on
 * one chain and burned on the others, and by payments to other depositors that are settled in batches. Balances follow the blocks; a transfer reserves them, its mint leads to burns, and an
 * attestation that expires unused returns them. Woken by NOTIFY `block_steps` and `chain_work`; any number of processes may run.
 *
 * Unified balance: what a depositor holds in the wallet contracts of several chains. Burn intent: the signed permission to burn, of
 * that balance, what is minted on another chain.
 */

import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { followSteps } from '#engines/indexer/index'
import type { GasFaucet } from '#engines/treasury/index'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { followStepForUnifiedBalances } from './follow.ts'
import { forwardMints } from './forward-mints.ts'
import { unifiedChainOf } from './networks.ts'
import { sendBurns } from './send-burns.ts'
import { settleUnifiedPayments } from './settle-payments.ts'

export { acceptUnifiedPayment, type OfferedUnifiedPayment, verifyUnifiedPayment } from './accept-payment.ts'
export { attestTransfer, findAttested, shownFees } from './attest-transfer.ts'
export { expirationHeightOf, leisureBlocks } from './heights.ts'
export type { SignedEntry } from './intents.ts'
export { tokenSymbol, type UnifiedChain, unifiedChains, whyNoBalance } from './networks.ts'
export { unifiedPaymentReasons, unifiedRefusal } from './payment-refusals.ts'
export { proveUnifiedBalances, type UnifiedProof } from './prove.ts'
export { availableOf } from './store/balances.ts'
export { unifiedBalanceBurn } from './store/burns.ts'
export { unifiedMovements } from './store/entity-transfers.ts'
export { findGatewayEvent } from './store/gateway-events.ts'
export { listHeights, pendingDeposits } from './store/movements.ts'
export { findUnifiedPayment, pageUnifiedPayments, type UnifiedPayment } from './store/payments.ts'
export {
  findTransferHistory,
  type TransferHistory,
  transfersBurnedBy,
} from './store/transfer-history.ts'
export {
  findIntent,
  findUnifiedTransfer,
  intentsOf,
  signedIntentsOf,
  type UnifiedTransfer,
} from './store/transfers.ts'
export { intentsMax, type PricedIntent, priceTransfer, requireCovered, verifyTransfer } from './verify.ts'

const engine = 'unified-balance'

/** Starts following and burning on all chains; `stop` waits for running work. `gasFaucet` gives gas on local chains. */
export function startUnifiedBalance(ctx: EngineCtx, gasFaucet?: GasFaucet): Service {
  const feed = followSteps(ctx, engine, (tx, step) => followStepForUnifiedBalances(ctx, tx, step))
  const burning = startChainLoops(ctx, (chain) => {
    const unified = unifiedChainOf(chain)
    if (!unified) return []
    const { blockchain } = unified
    const trouble = (what: string) => logTrouble(ctx.log, what, { blockchain })
    return [
      repeat(() => sendBurns(ctx, unified, gasFaucet), trouble('burning unified balances')),
      repeat(() => settleUnifiedPayments(ctx, unified, gasFaucet), trouble('settling payments')),
      repeat(() => forwardMints(ctx, unified, gasFaucet), trouble('forwarding transfers')),
    ]
  })
  return serviceOf([feed, burning])
}

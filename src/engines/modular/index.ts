/**
 * Modular wallets: smart accounts whose owners sign in pages. It watches them, pays for the gas of their operations within
 * limits, has the treasury bundle them, and follows them to their blocks. Woken by NOTIFY `block_steps` and `chain_work`;
 * any number of processes may run.
 *
 * Bundle: the transaction of the treasury that executes operations. Sponsor: the treasury that pays for the gas of operations.
 * Paymaster: its contract, which pays from a deposit.
 */

import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { followSteps } from '#engines/indexer/index'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { failEnded, followStepForModularWallets } from './follow.ts'
import { modularEngine } from './note-changes.ts'

export { estimateOperation } from './estimate-operation.ts'
export { claimMappings, mappingsOfOwner } from './mappings.ts'
export { verificationGas } from './operation-gas.ts'
export { sendOperation } from './send-operation.ts'
export { sponsorOperation, stubSponsorship } from './sponsor-operation.ts'
export type { OwnerMapping } from './store/mappings.ts'
export { modularMovements } from './store/movements.ts'
export { findModularTransfer, type ModularTransfer, transfersPage } from './store/transfers.ts'
export {
  findByHash,
  findUserOperation,
  type UserOperationRow,
  userOperationsPage,
} from './store/user-operations.ts'
export { findModularWallet, findWalletAt, type ModularWallet, modularWalletsPage } from './store/wallets.ts'
export { openModularWallet } from './wallets.ts'

/** Starts following the operations of modular wallets on all chains; `stop` waits for running work. */
export function startModular(ctx: EngineCtx): Service {
  const feed = followSteps(ctx, modularEngine, (tx, step) => followStepForModularWallets(ctx, tx, step))
  const ending = startChainLoops(ctx, ({ network: { blockchain } }) => [
    repeat(() => failEnded(ctx, blockchain), logTrouble(ctx.log, 'ending user operations', { blockchain })),
  ])
  return serviceOf([feed, ending])
}

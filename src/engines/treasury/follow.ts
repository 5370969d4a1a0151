import type { EngineCtx } from '#engines/ctx'
import { followSteps } from '#engines/indexer/index'
import { observedTransactionsOf, observedTransfersOf } from '#engines/indexer/observed/index'
import type { Journals } from '#engines/transactions/journal/index'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn } from '#runtime/turns/store'
import { startBanking } from './banking/index.ts'
import { startRefillingFeePayers } from './bundling/refill-fee-payers.ts'
import { startBundling } from './bundling/start-bundling.ts'
import { reopenCalls } from './bundling/store.ts'
import { creditDeposits, revertDeposits } from './deposits/credit-deposits.ts'
import { bookUnclaimed } from './deposits/unclaimed.ts'
import { creditWires, revertWires } from './deposits/wires.ts'
import { reopenDisbursements } from './disbursements/reopen-disbursements.ts'
import { startPaying } from './disbursements/start-paying.ts'
import { resumeWaiting } from './disbursements/store/disbursements.ts'
import type { GasFaucet } from './gas.ts'
import { expireIntents } from './payment-intents/expire-payment-intents.ts'
import { startPayoutBatches } from './payout-batches/create-payouts.ts'
import { followMints, reopenRebalancings } from './rebalancing/follow-mints.ts'

/** Maximum number of intents closed in one turn. */
const expireMax = 100

/**
 * Starts turning deposits into payments, closing transient intents, paying merchants' disbursements, and sending orders to the bank;
 * `stop` waits for the step in progress. `gasFaucet` gives gas to treasuries on local chains.
 */
export function startTreasury(ctx: EngineCtx, journals: Journals, gasFaucet?: GasFaucet): Service {
  let feed: Service | undefined
  let stopped = false
  void journals.whenMerged.then(() => {
    if (!stopped) feed = followBlocks(ctx, journals)
  })
  const turn = newTurn('closing payment intents')
  const expiry = repeat(
    async () =>
      (await ctx.database.tx((tx) => expireIntents(tx, turn, ctx.clock.nowMs(), expireMax))) === expireMax,
    logTrouble(ctx.log, 'closing payment intents'),
  )
  const paying = startPaying(ctx, gasFaucet)
  const batches = startPayoutBatches(ctx)
  const bundling = startBundling(ctx, gasFaucet)
  const refilling = startRefillingFeePayers(ctx, gasFaucet)
  const banking = startBanking(ctx)
  const stopFollowing = () => {
    stopped = true
    return feed?.stop()
  }
  return serviceOf([stopFollowing, expiry, paying, batches, banking, bundling, refilling])
}

/** Waits until every journal is merged: until then, a mint of a lost rebalancing would count as coins of a stranger. */
const followBlocks = (ctx: EngineCtx, journals: Journals) =>
  followSteps(ctx, 'treasury', async (tx, step) => {
    if (!(await journals.areMerged(tx)))
      throw new Error('waiting for unmerged journals before following blocks')
    const { kind, blockchain, blockHash, blockNumber, completeTo } = step
    const nowMs = ctx.clock.nowMs()
    const block = { number: blockNumber, hash: blockHash }
    const chain = ctx.chains.find(blockchain)
    if (!chain) throw new Error(`${blockchain} is not configured`)
    const transfers = await observedTransfersOf(tx, blockchain, blockHash)
    if (kind === 'undone') {
      await revertDeposits(tx, nowMs, blockchain, block)
      await reopenDisbursements(tx, nowMs, step)
      const sent = await observedTransactionsOf(tx, blockchain, blockHash)
      await reopenCalls(tx, blockchain, sent)
      await reopenRebalancings(tx, nowMs, blockchain, sent)
      await revertWires(tx, nowMs, transfers)
    } else await creditDeposits(ctx, tx, chain, { ...block, completeTo }, transfers)
    const strange = await followMints(tx, nowMs, step, chain.network, transfers, (coins) =>
      resumeWaiting(tx, coins),
    )
    await bookUnclaimed(tx, nowMs, chain.network, strange, kind === 'undone' ? -1n : 1n)
    await creditWires(tx, nowMs, blockchain, completeTo)
  })

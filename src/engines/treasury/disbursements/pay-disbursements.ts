/**
 * Pays payouts, outgoing transfers and refunds, accepted with a hold on the merchant's wallet. A worker screens a
 * disbursement and submits it to the transaction engine as a transfer from the treasury; both commit in one `tx`, and the
 * transaction has the disbursement's own id, so that a retry or a restored backup pays it only once. A disbursement whose
 * coins are still at deposit addresses starts a sweep and waits for it, and one whose coins are on other chains a rebalancing
 * where the entity's policy allows that; it says what it waits for, and fails if nothing brings that for too long.
 * `settle-disbursements.ts` follows the transaction to its end.
 */

import type { Chain } from '#chains/chain'
import { bookedAmount, stablecoinWithId, tokenAddress } from '#chains/network'
import type { EngineCtx, EntityCtx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { announceWork, submitFromTreasury } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { ApiError } from '#lib/errors'
import { parseInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { deferralMsOf, type Turn } from '#runtime/turns/store'
import { actingFor } from '../act-for-entity.ts'
import { type GasFaucet, refillGas, transactionCost, treasuryGas } from '../gas.ts'
import { rebalanceShortage } from '../rebalancing/open-rebalancing.ts'
import { sourceUnderWay } from '../rebalancing/store.ts'
import { hasTransaction } from '../store/platform-transactions.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { sweepingAmount } from '../sweeping/store.ts'
import { sweepShortage } from '../sweeping/sweep.ts'
import { requireTreasury, signatoryOf, treasuryCoins } from '../treasuries.ts'
import { coinsWaitMs } from '../wait-limit.ts'
import { endDisbursements } from './end-disbursements.ts'
import { blockedByOperator, riskReasonOf } from './screen.ts'
import {
  claimWaiting,
  type Disbursement,
  type DisbursementKind,
  type Ending,
  markSubmitted,
  postponeDisbursement,
  setWaiting,
  waitingAmount,
} from './store/disbursements.ts'
import { explainShortage, isStranded } from './waiting.ts'

/**
 * Pays the next due disbursement of this kind, or defers it: a disbursement that cannot be paid, for any reason, delays no
 * other. False when no disbursement was due.
 */
export async function payNext(
  ctx: EngineCtx,
  chain: Chain,
  kind: DisbursementKind,
  turn: Turn,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const costAtomic = await transactionCost(chain)
  let claimed: Disbursement | undefined
  try {
    const outcome = await ctx.database.tx(async (tx) => {
      claimed = await claimWaiting(tx, turn, kind, chain.network.blockchain)
      if (!claimed) return undefined
      const done = await pay(actingFor(ctx, tx, claimed), chain, claimed, costAtomic)
      failpoint('before-treasury-commit')
      return done
    })
    if (!outcome || !claimed) return false
    failpoint('after-treasury-commit')
    if (outcome.submitted) await announceWork(ctx.database, chain.network.blockchain)
    if (outcome.lowOnGas) await refillGas(ctx, chain, outcome.lowOnGas, gasFaucet)
    if (outcome.lacks) {
      const disbursement = claimed
      await sweepShortage(ctx, chain, disbursement, (tx) => waitingAmount(tx, disbursement))
      await rebalanceShortage(ctx, chain, disbursement, waitingAmount)
      await explainShortage(ctx, chain, disbursement, outcome.lacks)
    }
  } catch (error) {
    if (!claimed) throw error
    if (!isPassing(error)) {
      const { entityId, id, blockchain } = claimed
      ctx.log.error(
        { err: error, kind, entityId, id, blockchain },
        'cannot pay a disbursement yet; will retry',
      )
    }
    await rest(ctx.database, claimed, ctx.clock.nowMs())
    // Another disbursement that took the coins is no reason of its own: the next look finds one.
    if (!(error instanceof InsufficientFunds)) await setWaiting(ctx.database, claimed, { reason: 'retrying' })
  }
  return true
}

/** Whether the error is transient: another disbursement took the coins, or the transaction engine accepts no more for now. */
const isPassing = (error: unknown) => error instanceof InsufficientFunds || error instanceof ApiError

const waitedMs = ({ createDate }: Disbursement, nowMs: number) => nowMs - parseInstant(createDate)!

const rest = (db: Db, disbursement: Disbursement, nowMs: number) =>
  postponeDisbursement(db, disbursement, deferralMsOf(waitedMs(disbursement, nowMs)))

/** Names in `lacks` the coins or the gas that a waiting disbursement needs. */
type PayOutcome = { lacks?: { gas: boolean }; submitted?: true; lowOnGas?: TreasuryRow | undefined }

async function pay(
  ctx: EntityCtx,
  chain: Chain,
  disbursement: Disbursement,
  costAtomic: bigint,
): Promise<PayOutcome> {
  failpoint('before-screening')
  const denial = riskReasonOf(disbursement, ctx.config.entityCountry)
  failpoint('before-screening-record')
  if (denial)
    return end(ctx, disbursement, { status: 'failed', errorCode: 'transaction_denied', riskReason: denial })
  // After a restore from a backup the transaction may exist although the disbursement is not marked as submitted.
  if (!(await hasTransaction(ctx.db, disbursement))) {
    const treasury = await requireTreasury(ctx, disbursement.entityId, chain.network)
    const gas = await treasuryGas(ctx.db, treasury, costAtomic)
    const lowOnGas = gas === 'plenty' ? undefined : treasury
    const hasCoins = (await treasuryCoins(ctx.db, treasury, disbursement.tokenId)) >= disbursement.amount
    if (gas === 'none' || !hasCoins)
      return { ...(await wait(ctx, disbursement, { gas: gas === 'none' })), lowOnGas }
    const denied = await submitted(ctx, chain, treasury, disbursement)
    if (denied) return end(ctx, disbursement, denied)
    await markSubmitted(ctx.db, disbursement)
    return { submitted: true, lowOnGas }
  }
  await markSubmitted(ctx.db, disbursement)
  return {}
}

async function end(ctx: EntityCtx, disbursement: Disbursement, ending: Ending): Promise<PayOutcome> {
  await endDisbursements(ctx.db, ctx.nowMs, [{ disbursement, ...ending }])
  return {}
}

/**
 * Defers the disbursement, or fails it once it has waited too long and neither the last look nor this one finds anything under
 * way that brings what it lacks. Without workers for a day, the first look begins the sweep or rebalancing.
 */
async function wait(
  ctx: EntityCtx,
  disbursement: Disbursement,
  lacks: { gas: boolean },
): Promise<PayOutcome> {
  const isOver = isStranded(disbursement) && waitedMs(disbursement, ctx.nowMs) > coinsWaitMs
  const isComing = async () =>
    (await sweepingAmount(ctx.db, disbursement)) > 0n || (await sourceUnderWay(ctx.db, disbursement))
  if (isOver && !(await isComing()))
    return end(ctx, disbursement, { status: 'failed', errorCode: 'insufficient_funds' })
  await rest(ctx.db, disbursement, ctx.nowMs)
  return { lacks }
}

/** Submits the transfer that pays the disbursement. Returns the ending when policy denies it. */
async function submitted(
  ctx: EntityCtx,
  chain: Chain,
  treasury: TreasuryRow,
  disbursement: Disbursement,
): Promise<Ending | undefined> {
  const { tokenId, amount, toAddress } = disbursement
  const token = stablecoinWithId(chain.network, tokenId)
  if (!token) throw new Error(`${chain.network.blockchain} has no token ${tokenId}`)
  const amountText = formatAmount(amount, token.decimals)
  const amountAtomic = bookedAmount(chain.network, tokenId, amount)
  try {
    await submitFromTreasury(ctx, {
      id: disbursement.id,
      chain,
      call: chain.payments.transferCall(toAddress, amount, tokenAddress(token)),
      fee: {},
      refId: `${disbursement.kind} ${disbursement.id}`,
      shown: {
        operation: 'TRANSFER',
        tokenId,
        destinationAddress: toAddress,
        amountTexts: [amountText],
        amountAtomic,
      },
      signatory: signatoryOf(treasury),
      token: { tokenId, address: treasury.address, amountAtomic },
      policy: 'applies',
    })
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'policyDenied') throw error
    return { status: 'failed', errorCode: 'transaction_denied', riskReason: blockedByOperator }
  }
}

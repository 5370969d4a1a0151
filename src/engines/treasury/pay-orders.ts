/**
 * Pays payouts and outgoing transfers. Each was accepted with its money held in the merchant's wallet. A worker screens it
 * and hands it to the transaction engine as a transfer from the treasury; both commit in one `tx`, and the transaction has
 * the order's own id, so that whatever is repeated or restored it is paid once. One whose coins lie at deposit addresses
 * waits for a sweep, which it causes; one that waits in vain fails. `settle-orders.ts` follows the transaction to its end.
 */
import type { Chain } from '#chains/chain'
import type { Ctx, EngineCtx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/index'
import { submitFromTreasury } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { reachPoint } from '#lib/crash-points'
import { ApiError } from '#lib/errors'
import { parseInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { restMsOf, type Turn } from '#runtime/turns/store'
import { endOrders } from './end-orders.ts'
import { type Fuel, gasOf, refuel, transactionCost } from './gas.ts'
import { blockedByOperator, denialOf } from './screen.ts'
import {
  claimWaiting,
  type Ending,
  hasTransaction,
  markSubmitted,
  type Order,
  type OrderKind,
  postpone,
} from './store/orders.ts'
import { sweepingAmount } from './store/sweeps.ts'
import type { TreasuryRow } from './store/treasuries.ts'
import { sweepFor } from './sweep.ts'
import { requireTreasury, signatoryOf, treasuryCoins } from './treasuries.ts'
import { workerScope } from './worker-scope.ts'

/** How long an order may wait for coins, or for gas. On a local chain a sweep takes seconds, also on a busy machine. */
const patienceMs = 24 * 3_600_000
const patienceLocalMs = 120_000

/**
 * Pays the order of this kind whose turn it is, or lets it rest: one that cannot be paid, for whatever reason, holds up no
 * other. False when it was nobody's turn.
 */
export async function payNext(
  ctx: EngineCtx,
  chain: Chain,
  kind: OrderKind,
  turn: Turn,
  fuel: Fuel | undefined,
): Promise<boolean> {
  const costAtomic = await transactionCost(chain)
  let claimed: Order | undefined
  let scope: Ctx | undefined
  try {
    const outcome = await ctx.database.tx(async (tx) => {
      claimed = await claimWaiting(tx, turn, kind, chain.network.blockchain)
      if (!claimed) return undefined
      scope = workerScope(ctx, tx, chain, claimed)
      const done = await pay(scope, chain, claimed, costAtomic)
      reachPoint('P25')
      return done
    })
    if (!outcome || !claimed) return false
    reachPoint('P26')
    for (const wake of scope?.afterCommit ?? []) await wake()
    if (outcome.lowOnGas) await refuel(ctx, chain, outcome.lowOnGas, fuel)
    if (outcome.waits) await sweepFor(ctx, chain, claimed)
  } catch (error) {
    if (!claimed) throw error
    if (!isPassing(error)) {
      const { entityId, id, blockchain } = claimed
      ctx.log.error({ err: error, kind, entityId, id, blockchain }, 'an order was not paid; trying again')
    }
    await rest(ctx.database, claimed, ctx.clock.nowMs())
  }
  return true
}

/** Somebody else took the coins, or too much is under way. */
const isPassing = (error: unknown) => error instanceof InsufficientFunds || error instanceof ApiError

const waitedMs = ({ createDate }: Order, nowMs: number) => nowMs - parseInstant(createDate)!

const rest = (db: Db, order: Order, nowMs: number) => postpone(db, order, restMsOf(waitedMs(order, nowMs)))

type Outcome = { waits: boolean; lowOnGas?: TreasuryRow | undefined }

async function pay(ctx: Ctx, chain: Chain, order: Order, costAtomic: bigint): Promise<Outcome> {
  reachPoint('P3')
  const denial = denialOf(order, ctx.config.entityCountry)
  reachPoint('P4')
  if (denial)
    return end(ctx, order, { status: 'failed', errorCode: 'transaction_denied', riskReason: denial })
  // It has a transaction already when the database was restored from a copy that did not know of it.
  if (!(await hasTransaction(ctx.db, order))) {
    const treasury = await requireTreasury(ctx, order.entityId, chain.network)
    const gas = await gasOf(ctx.db, treasury, costAtomic)
    const lowOnGas = gas === 'plenty' ? undefined : treasury
    const hasCoins = (await treasuryCoins(ctx.db, treasury, order.tokenId)) >= order.amount
    if (gas === 'none' || !hasCoins) return { ...(await wait(ctx, chain, order)), lowOnGas }
    const denied = await submitted(ctx, chain, treasury, order)
    if (denied) return end(ctx, order, denied)
    await markSubmitted(ctx.db, order)
    return { waits: false, lowOnGas }
  }
  await markSubmitted(ctx.db, order)
  return { waits: false }
}

async function end(ctx: Ctx, order: Order, ending: Ending): Promise<Outcome> {
  await endOrders(ctx.db, ctx.receivedMs, [{ order, ...ending }])
  return { waits: false }
}

/** It rests; for too long, and it fails. What is being swept is waited for. */
async function wait(ctx: Ctx, chain: Chain, order: Order): Promise<Outcome> {
  const isOver = waitedMs(order, ctx.receivedMs) > (chain.local ? patienceLocalMs : patienceMs)
  if (isOver && (await sweepingAmount(ctx.db, order)) === 0n)
    return end(ctx, order, { status: 'failed', errorCode: 'insufficient_funds' })
  await rest(ctx.db, order, ctx.receivedMs)
  return { waits: true }
}

/** Accepts the transfer that pays the order. Gives the ending when policy does not allow it. */
async function submitted(
  ctx: Ctx,
  chain: Chain,
  treasury: TreasuryRow,
  order: Order,
): Promise<Ending | undefined> {
  const { tokenId, amount, toAddress } = order
  const token = chain.network.tokens.find(({ id }) => id === tokenId)
  if (!token) throw new Error(`${chain.network.blockchain} has no token ${tokenId}`)
  const address = token.address.toLowerCase() as `0x${string}`
  const amountText = formatAmount(amount, token.decimals)
  try {
    await submitFromTreasury(ctx, {
      id: order.id,
      chain,
      call: chain.transferCall(toAddress, amount, address),
      fee: {},
      refId: `${order.kind} ${order.id}`,
      shown: {
        operation: 'TRANSFER',
        tokenId,
        destinationAddress: toAddress,
        amountText,
        amountAtomic: amount,
      },
      treasury: signatoryOf(treasury),
      token: { tokenId, address: treasury.address, amountAtomic: amount },
      sweep: false,
    })
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'policyDenied') throw error
    return { status: 'failed', errorCode: 'transaction_denied', riskReason: blockedByOperator }
  }
}

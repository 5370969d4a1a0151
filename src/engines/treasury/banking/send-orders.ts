/**
 * Sends orders to the bank: accounts to link, and redemptions whose coins have left for good. An order is recorded before it is
 * sent, and sent again with the same id until the bank has taken it; the bank carries it out once.
 */
import type { Chain } from '#chains/chain'
import { openBankNumbers } from '#custody/bank-numbers/index'
import type { BankOrder, BankRail } from '#engines/bank-rail'
import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { highestFinal } from '#engines/indexer/index'
import { currencyDecimals } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { formatInstant, parseInstant } from '#lib/time'
import { hearNotices } from '#runtime/pg-notifications'
import { failpoint } from '#runtime/scheduling/failpoints'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { deferralMsOf, newTurn, type Turn } from '#runtime/turns/store'
import { actingFor } from '../act-for-entity.ts'
import { requireTreasury } from '../treasuries.ts'
import { markLinked, postponeAccount, takeAccountToLink } from './store/accounts.ts'
import { markOrdered, postponeOrder, takeRedemptionToSend } from './store/orders.ts'

/** Longer than the bank may take to answer: no other worker sends the order meanwhile. */
const claimMs = 30_000

/** Starts sending orders to the bank, if one is connected. Any number of processes may. */
export function startBanking(ctx: EngineCtx): Service {
  const { bank } = ctx
  if (!bank) return serviceOf([])
  const linking = newTurn('linking bank accounts')
  const links = repeat(
    () => linkNext(ctx, bank, linking),
    logTrouble(ctx.log, 'handing accounts to the bank'),
  )
  const unlisten = hearNotices(ctx, 'bank_orders', () => links.wake())
  const orders = startChainLoops(ctx, (chain) => {
    const turn = newTurn('ordering redemptions')
    const { blockchain } = chain.network
    return [
      repeat(
        () => orderNext(ctx, bank, chain, turn),
        logTrouble(ctx.log, 'ordering redemptions', { blockchain }),
      ),
    ]
  })
  return serviceOf(unlisten, [links, orders])
}

type OrderScope = { entityId: string; id: string; createDate: string }

async function linkNext(ctx: EngineCtx, bank: BankRail, turn: Turn): Promise<boolean> {
  const account = await takeAccountToLink(ctx.database, turn, claimMs)
  if (!account) return false
  const { entityId, id, trackingRef, billingDetails, bankAddress, sealedNumber } = account
  await attempt(
    ctx,
    bank,
    account,
    async () => ({
      type: 'account',
      entityId,
      id,
      trackingRef,
      numbers: openBankNumbers(ctx.custody, account, sealedNumber),
      billingDetails,
      bankAddress,
      deposits: await treasuryFor(ctx, account, bank.places(ctx.chains)[0]?.network.blockchain),
    }),
    { taken: markLinked, postpone: postponeAccount },
  )
  return true
}

async function orderNext(ctx: EngineCtx, bank: BankRail, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const finalTo = await highestFinal(ctx.database, blockchain)
  const redemption = await takeRedemptionToSend(ctx.database, turn, blockchain, finalTo, claimMs)
  if (!redemption) return false
  failpoint('after-order-record')
  const { entityId, id, bankAccountId, currency, amount } = redemption
  await attempt(
    ctx,
    bank,
    redemption,
    async () => ({
      type: 'payout',
      entityId,
      id,
      bankAccountId,
      amount: { amount: formatAmount(amount, currencyDecimals, 2), currency },
      returns: await treasuryFor(ctx, redemption, blockchain),
    }),
    { taken: markOrdered, postpone: postponeOrder },
  )
  return true
}

/** How the row of an order records that the bank took it, or did not. */
type OrderRow = {
  taken: (db: EngineCtx['database'], order: OrderScope, due: string | null) => Promise<unknown>
  postpone: (db: EngineCtx['database'], order: OrderScope, ms: number) => Promise<unknown>
}

/** Sends an order, and defers it when the bank did not take it: no order delays another for longer than one answer. */
async function attempt(
  ctx: EngineCtx,
  bank: BankRail,
  row: OrderScope,
  orderOf: () => Promise<BankOrder>,
  { taken, postpone }: OrderRow,
): Promise<void> {
  const { entityId, id } = row
  try {
    const { decidesAfterMs } = await bank.send(await orderOf())
    failpoint('after-order-answer')
    const due = decidesAfterMs === undefined ? null : formatInstant(ctx.clock.nowMs() + decidesAfterMs)
    await taken(ctx.database, row, due)
  } catch (error) {
    ctx.log.warn({ err: error, entityId, id }, 'the bank did not take an order; it is sent again')
    await postpone(ctx.database, row, deferralMsOf(ctx.clock.nowMs() - parseInstant(row.createDate)!))
  }
}

/** The address where coins of the entity are to arrive. */
async function treasuryFor(ctx: EngineCtx, row: OrderScope, blockchain: string | undefined) {
  const chain = blockchain === undefined ? undefined : ctx.chains.find(blockchain)
  if (!chain) throw new Error(`this server is not connected to ${blockchain ?? 'the chain of the bank'}`)
  const { address } = await ctx.database.tx((tx) =>
    requireTreasury(actingFor(ctx, tx, row), row.entityId, chain.network),
  )
  return { blockchain: chain.network.blockchain, address }
}

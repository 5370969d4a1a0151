/**
 * Proves that the coins of the platform are what it owes its merchants. The indexer proves that the books of coins equal the
 * chains, address by address; this compares those books with the merchants' wallets, over all chains, and accounts by
 * name for every difference there may be (docs/decisions/0017). What nothing accounts for is a gap, of one base unit too.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { logTrouble, repeat } from '#runtime/loop'
import {
  claimWatch,
  type MoneyGap,
  type MoneySums,
  moneySums,
  recordMoneyGaps,
  setWatchDue,
} from './store/money-proof.ts'

export type MoneyProof = { totals: MoneySums[]; gaps: MoneyGap[] }

/** How long after a gap was found it is looked at again. */
const settleMs = 500
/** The sums of all merchants are read at most this often, and take a twentieth of the time at most. */
const restMs = 5_000
const restPerWork = 20

/** The sums as they are now. A gap is one that a second look finds too. */
export async function proveMoney(db: Db): Promise<MoneyProof> {
  const first = await moneySums(db)
  if (first.gaps.length === 0) return first
  await sleep(settleMs)
  const second = await moneySums(db)
  const found = new Set(first.gaps.map(keyOf))
  return { totals: second.totals, gaps: second.gaps.filter((gap) => found.has(keyOf(gap))) }
}

const keyOf = ({ entityId, currency }: MoneyGap) => `${entityId}:${currency}`

/** Starts comparing all the time; a gap is an alarm. Any number of processes may: one of them looks. */
export function startMoneyWatch(ctx: EngineCtx): { stop(): Promise<void> } {
  return repeat(
    async () => {
      if (await claimWatch(ctx.database, restMs)) await watch(ctx)
      return false
    },
    logTrouble(ctx.log, 'comparing what merchants own with the coins'),
  )
}

async function watch(ctx: EngineCtx): Promise<void> {
  const startedMs = performance.now()
  const { gaps } = await proveMoney(ctx.database)
  const tookMs = performance.now() - startedMs
  await setWatchDue(ctx.database, Math.max(restMs, tookMs * restPerWork))
  for (const { entityId, currency, ...sums } of await recordMoneyGaps(ctx.database, ctx.clock.nowMs(), gaps))
    raiseAlarm(
      ctx.log,
      'money-differs',
      {
        entityId,
        currency,
        ...Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, String(amount)])),
      },
      'the coins are not what is owed to a merchant: see bezant reconcile',
    )
}

/**
 * Proves that the platform's coins equal its debts to merchants. The indexer proves that the ledger's coins equal the chains,
 * address by address; this module compares those coins with the merchants' wallets, over all chains, and explains every
 * legitimate difference by its name (docs/decisions/0017). An unexplained difference is a gap, even of one base unit.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import {
  claimWatch,
  type MoneyGap,
  type MoneySums,
  moneySums,
  recordMoneyGaps,
  setWatchDue,
} from './store/money-proof.ts'

export type MoneyProof = { totals: MoneySums[]; gaps: MoneyGap[] }

/** Delay before a gap is checked a second time. */
const settleMs = 500
/** Minimum interval between comparisons of all merchants' sums; they also take a twentieth of the time at most. */
const restMs = 5_000
const restPerWork = 20

/** Returns the current sums. A difference is a gap only if a second read finds it too. */
export async function proveMoney(db: Db): Promise<MoneyProof> {
  const first = await moneySums(db)
  if (first.gaps.length === 0) return first
  await sleep(settleMs)
  const second = await moneySums(db)
  const found = new Set(first.gaps.map(keyOf))
  return { totals: second.totals, gaps: second.gaps.filter((gap) => found.has(keyOf(gap))) }
}

const keyOf = ({ entityId, currency }: MoneyGap) => `${entityId}:${currency}`

/**
 * Starts comparing continuously and raises an alarm for each new or changed gap. Any number of processes may run it; one
 * compares at a time.
 */
export function startMoneyWatch(ctx: EngineCtx): Service {
  const loop = repeat(
    async () => {
      if (await claimWatch(ctx.database, restMs)) await watch(ctx)
      return false
    },
    logTrouble(ctx.log, 'comparing the money of merchants with the coins'),
  )
  return serviceOf(loop)
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
      'the coins differ from the money of a merchant: run bezant reconcile',
    )
}

import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { fundWallets } from '../chain.ts'
import { nodeOf, untilCaughtUp } from '../drain/bench.ts'
import { startPlatform } from '../drain/processes.ts'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import { callApi, openTenant } from '../tenant.ts'

type Usage = {
  bytes: number
  inserted: number
  updated: number
  inPlace: number
  deleted: number
  dead: number
}

/**
 * Sends transfers of wallets through a worker until all are COMPLETE, and returns what each leaves: bytes, and the versions of rows
 * that vacuum has to remove. An update in place (HOT) changes no index.
 */
export async function measureLife(run: Run): Promise<Figure[]> {
  const count = run.amount(5_000, 1_000, 10)
  const platform = await startPlatform(run)
  const database = openAsOwner(platform.ready.connection)
  run.atEnd(database.close)
  const customer = await openTenant(platform.ready, 10)
  const node = nodeOf(platform)
  await fundWallets(node, customer.wallets)
  await platform.order('start')
  await untilCaughtUp(node, customer)
  const before = await usageOf(database)
  const busy = measureBusyCores()
  await platform.accept(
    count,
    customer.wallets.map(({ id }) => id),
  )
  const isAnyOpen = async () => {
    for (const state of ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED'])
      if (
        (await callApi(customer.tenant, 'GET', `/v1/w3s/transactions?pageSize=1&state=${state}`))
          .transactions[0]
      )
        return true
    return false
  }
  while (await isAnyOpen()) await sleep(200)
  // Counters of sessions arrive within a second.
  await sleep(1_500)
  const grown = [...(await usageOf(database))].map(([table, after]) => ({
    table,
    ...growthOf(after, before.get(table)),
  }))
  const sum = (key: keyof Usage) => grown.reduce((total, each) => total + each[key], 0)
  for (const { table, bytes, ...each } of grown.sort((one, other) => other.bytes - one.bytes))
    if (each.inserted + each.updated + each.deleted > count / 10)
      run.report(
        `${table}: for one transfer ${(bytes / count).toFixed(0)} bytes, ${(each.inserted / count).toFixed(2)} inserted, ${(each.updated / count).toFixed(2)} updated (${percentOf(each.inPlace, each.updated).toFixed(0)} % in place), ${(each.deleted / count).toFixed(2)} deleted`,
      )
  return [
    {
      name: `bytes that one of ${count.toLocaleString('en')} transfers leaves in all tables, indexes included`,
      measured: { value: sum('bytes') / count, unit: 'bytes' },
      coresBusy: busy(),
    },
    {
      name: 'versions of rows that its updates and deletes leave to vacuum',
      measured: { value: sum('updated') / count + sum('deleted') / count, unit: 'rows' },
      reference: { value: sum('inserted') / count, unit: 'rows', what: 'inserted' },
      ratio: (sum('updated') + sum('deleted')) / sum('inserted'),
      coresBusy: busy(),
    },
    {
      name: 'updates in place, which leave no index entry (HOT)',
      measured: { value: percentOf(sum('inPlace'), sum('updated')), unit: '%' },
      coresBusy: busy(),
    },
  ]
}

const percentOf = (part: number, whole: number) => (whole === 0 ? 0 : (100 * part) / whole)

async function usageOf(database: Database): Promise<Map<string, Usage>> {
  const rows = await database.all<Usage & { table: string }>(sql`select relname::text as "table",
      pg_total_relation_size(relid) as bytes, n_tup_ins as inserted, n_tup_upd as updated, n_tup_hot_upd as in_place,
      n_tup_del as deleted, n_dead_tup as dead from pg_stat_user_tables`)
  return new Map(rows.map(({ table, ...usage }) => [table, usage]))
}

const growthOf = (after: Usage, before: Usage | undefined): Usage => ({
  bytes: after.bytes - (before?.bytes ?? 0),
  inserted: after.inserted - (before?.inserted ?? 0),
  updated: after.updated - (before?.updated ?? 0),
  inPlace: after.inPlace - (before?.inPlace ?? 0),
  deleted: after.deleted - (before?.deleted ?? 0),
  dead: after.dead,
})

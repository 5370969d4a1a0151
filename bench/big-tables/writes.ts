import { type Database, raw, sql } from '#runtime/db/db'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import { alternateRounds, median, ratioOf } from '../statistics.ts'

/** Indexes that serve filters of lists alone: each is paid by every row that is written. */
const filterIndexes: readonly { table: string; index: string }[] = [
  { table: 'transactions', index: 'transactions_by_kind' },
  { table: 'transactions', index: 'transactions_by_operation' },
  { table: 'payouts', index: 'payouts_by_currency' },
  { table: 'transfers', index: 'transfers_by_direction' },
  { table: 'payment_intents', index: 'payment_intents_by_context' },
  { table: 'event_logs', index: 'event_logs_by_blockchain' },
  { table: 'screenings', index: 'screenings_by_chain' },
  { table: 'notifications', index: 'notifications_by_topic' },
]

/** Rows inserted per second with each of these indexes against without it. */
export async function measureWrites(run: Run, database: Database): Promise<Figure[]> {
  const count = run.amount(20_000, 5_000, 100)
  const figures: Figure[] = []
  for (const { table, index } of filterIndexes) {
    const busy = measureBusyCores()
    const values = await alternateRounds(run.amount(7, 5, 1), {
      with: () => insertedPerSecond(database, table, count),
      without: () => insertedPerSecond(database, table, count, index),
    })
    const figure: Figure = {
      name: `${table} inserted with ${index}`,
      measured: { value: median(values.with), unit: 'rows/s' },
      reference: { value: median(values.without), unit: 'rows/s', what: 'without it' },
      ratio: ratioOf(values.with, values.without),
      coresBusy: busy(),
    }
    run.report(`${figure.name}: ${figure.ratio!.toFixed(3)} of the speed without it`)
    figures.push(figure)
  }
  return figures
}

const undone = Symbol('undone')

/** Takes some rows of a table out and inserts them again, without `dropped`; all of it is undone. */
async function insertedPerSecond(
  database: Database,
  table: string,
  count: number,
  dropped?: string,
): Promise<number> {
  let perSecond = Number.NaN
  await database
    .tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`)
      await tx.run(
        raw(`create temporary table taken on commit drop as
        select * from ${table} limit ${count}`),
      )
      await tx.run(
        raw(`delete from ${table} t using taken where t.entity_id = taken.entity_id and t.id = taken.id`),
      )
      if (dropped !== undefined) await tx.run(raw(`drop index ${dropped}`))
      const startedMs = performance.now()
      const inserted = await tx.run(raw(`insert into ${table} overriding system value select * from taken`))
      perSecond = inserted / ((performance.now() - startedMs) / 1_000)
      throw undone
    })
    .catch((error) => {
      if (error !== undone) throw error
    })
  return perSecond
}

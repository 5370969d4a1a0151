import { type Database, sql } from '#runtime/db/db'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'

/** Shares of the rows that have changed when autovacuum comes: with its default, and with a fiftieth. */
const shares = [0.02, 0.2] as const

/** Changes the newest transactions, as their states do, and vacuums the table: with few dead rows often, or with many seldom. */
export async function measureVacuum(run: Run, database: Database): Promise<Figure[]> {
  const busy = measureBusyCores()
  const seconds: number[] = []
  for (const share of shares) {
    const changed = await changeNewest(database, share)
    const startedMs = performance.now()
    await database.script('vacuum transactions')
    seconds.push((performance.now() - startedMs) / 1_000)
    run.report(
      `vacuum of transactions with ${changed.toLocaleString('en')} dead rows: ${seconds.at(-1)!.toFixed(1)} s`,
    )
  }
  const [few, many] = seconds as [number, number]
  return [
    {
      name: `vacuum of transactions after ${shares[0] * 100} % of them changed`,
      measured: { value: few, unit: 's' },
      reference: { value: many, unit: 's', what: `after ${shares[1] * 100} %` },
      ratio: few / many,
      coresBusy: busy(),
    },
  ]
}

const changeNewest = (database: Database, share: number): Promise<number> =>
  database.run(sql`update transactions set network_fee = network_fee + 1, state = 'COMPLETE'
    where create_date > (select max(create_date) - (max(create_date) - min(create_date)) * ${share}::float8 from transactions)`)

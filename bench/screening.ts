import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { fund } from './chain.ts'
import { nodeOf, untilCaughtUp } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { accept } from './intake.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'
import { openTenant } from './tenant.ts'
import { until } from './until.ts'

export const screeningBench: Bench = {
  name: 'screening',
  about: 'transfers accepted over HTTP and cleared, with 1,000,000 listed addresses against none',
  measure: async (run) => {
    const count = run.amount(1_000, 300, 5)
    const listedCount = run.amount(1_000_000, 1_000_000, 1_000)
    const none = await openIntake(run, 0, count)
    const listed = await openIntake(run, listedCount, count)
    const busy = measureBusyCores()
    const things = { listed, none }
    const rounds = await alternateRounds(run.amount(8, 3, 1), things, (round, values) =>
      run.report(
        `round ${round + 1}: ${values.listed.toFixed(2)} ms a transfer with a list, ${values.none.toFixed(2)} without`,
      ),
    )
    return [
      {
        name: `a transfer accepted over HTTP and cleared, with ${listedCount.toLocaleString('en')} listed addresses`,
        measured: { value: median(rounds.listed), unit: 'ms' },
        reference: { value: median(rounds.none), unit: 'ms', what: 'with none' },
        ratio: ratioOf(rounds.listed, rounds.none),
        promise: { ratioMax: 1.1 },
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

/** Returns a function that measures the time of one of `count` transfers until none waits for its screening, in ms. */
async function openIntake(run: Run, listed: number, count: number): Promise<() => Promise<number>> {
  const platform = await startPlatform(run)
  const { ready, order } = platform
  const database = openAsOwner(ready.connection, 2)
  run.atEnd(database.close)
  if (listed > 0) await fillList(database, listed)
  const node = nodeOf(platform)
  const customer = await openTenant(ready)
  await order('start')
  await fund(node, customer.wallet.address, 10n ** 13n, 10n ** 20n)
  await untilCaughtUp(node, customer)
  return async () => {
    const startedMs = performance.now()
    await accept(run, customer, count)
    const isDone = async () => {
      const { waiting } = await database.one<{ waiting: boolean }>(
        sql`select exists (select 1 from transactions where state = 'INITIATED') as waiting`,
      )
      return !waiting
    }
    await until(isDone, 'all are screened', { patienceMs: 120_000, everyMs: 5 })
    const elapsedMs = performance.now() - startedMs
    await untilCaughtUp(node, customer)
    return elapsedMs / count
  }
}

async function fillList(database: Database, count: number): Promise<void> {
  await database.run(sql`insert into screening_lists (name, kind, version) values ('bench', 'sanctions', 1)`)
  await database.run(sql`insert into screening_entries (address, space, list, from_version)
    select '0x' || encode(substring(sha256(n::text::bytea) for 20), 'hex'), 'evm', 'bench', 1
    from generate_series(1, ${count}::integer) as n`)
  await database.script('analyze screening_entries')
}

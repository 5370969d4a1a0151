/**
 * Property 147: a statement costs the same at any number of rows of other tenants. The statements are collected while the program
 * runs: every operation of `endpoints` is asked by its sample, which other suites require of each, beside all engines. Those of
 * engines in rarer states come from runs with COLLECT_STATEMENTS=DIRECTORY, by PLAN_STATEMENTS=DIRECTORY. So a new statement is
 * found without a list, and only exceptions are named.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { openAsOwner } from '#runtime/db/db'
import { worldOf } from '#testing/builders/world'
import { fillTables } from '#testing/databases/fill-tables'
import { openReader } from '#testing/databases/statement-reads'
import { collectStatements, type SentStatement } from '#testing/databases/statements'
import { type Harness, openHarness } from '#testing/platform/harness'
import { addressOf } from '#testing/requests/sample-request'
import { sampleRequests } from '#testing/requests/sample-requests'
import { sizeOf } from '#testing/runner/size'
import { statementsIn } from '#testing/runner/statement-files'

const rowsTotal = sizeOf('PLAN_ROWS', { usual: 10_000, deep: 100_000 })
/** The most rows of a table, however many it has: above the largest batch of a statement. */
const readMax = 5_000
const blockchains = ['BASE-SEPOLIA', 'ETH-SEPOLIA'] as const

/** Statements that may read more, by a part of their text, and why. */
const exempt: Record<string, string> = {
  'from (select * from reconciliation_gaps limit':
    'counts 10,000 gaps at most, for the metrics of an operator',
  'select 1 from event_histories h join event_monitors m':
    'counts histories up to a limit, for the metrics of an operator',
  'order by create_date desc offset': 'finds the oldest of the 200,000 requests that a sandbox keeps',
  'from unlinked_audit': 'counts what waits, of which there is little',
  ') looked group by entity_id':
    'is a search for work, which passes over rows that wait, and ends at a hundred to take of a tenant',
  'from step_cursors c join block_steps s': 'reads the steps of a chain that its engine has not followed yet',
  "'owed' as part": 'compares the sums of all merchants, in a twentieth of the time at most',
}

let harness: Harness
const sent = new Map<string, SentStatement>()
beforeAll(async () => {
  const collected = collectStatements()
  harness = await openHarness({ blockchains })
  const world = worldOf(harness, await harness.newEntity())
  await Promise.all([
    world.walletSet(),
    world.fundedWallet(),
    world.money(),
    world.paidIntent(),
    world.payee(),
    world.ownAddress(),
    world.collection(),
  ])
  for (const { method, path } of endpoints) {
    const made = await sampleRequests[`${method} ${path}`]?.request(world)
    if (!made) continue
    const { params, body, query, headers } = made
    await world.tenant.http(method, addressOf(path, params), {
      body,
      ...(query && { query }),
      ...(headers && { headers }),
    })
  }
  await harness.chain().mine(3)
  await harness.stopEngines()
  collected.stop()
  const earlier = process.env['PLAN_STATEMENTS']
  for (const each of earlier === undefined ? [] : statementsIn(earlier)) sent.set(each.text, each)
  for (const [text, each] of collected.sent) sent.set(text, each)
  const owner = openAsOwner(harness.connection)
  await fillTables(owner, blockchains, rowsTotal)
  await owner.close()
}, 1_800_000)
afterAll(() => harness?.close())

it('property 147: statements of operations and engines read a bounded number of rows beside those of others', async () => {
  const faults: string[] = []
  const unused = new Set(Object.keys(exempt))
  const reader = await openReader(harness.connection)
  for (const statement of sent.values()) {
    const reads = await reader.readsOf(statement)
    const large = Object.entries(reads).filter(([, rows]) => rows >= readMax)
    if (large.length === 0) continue
    const part = Object.keys(exempt).find((each) => statement.text.includes(each))
    if (part !== undefined) unused.delete(part)
    else
      faults.push(
        `${JSON.stringify(Object.fromEntries(large))}: ${statement.text}\n${await reader.planOf(statement)}`,
      )
  }
  await reader.close()
  expect(sent.size).toBeGreaterThan(500)
  expect(faults).toEqual([])
  // Too few rows at the usual size for what reads more than the bound, and none of a block.
  if (rowsTotal > 20_000) expect([...unused]).toEqual([])
})

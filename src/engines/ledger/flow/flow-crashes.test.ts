/** The flow counts each transfer once while workers die, connections break and others write. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { post, reversePostings } from '#engines/ledger/index'
import { type Database, type Db, sql } from '#runtime/db/db'
import { newTurn } from '#runtime/turns/store'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { countFlow } from './count-flow.ts'
import { lockCounting } from './store.ts'

const { blockchain } = baseSepolia
let harness: Harness
let usdcId: string
let worker: Worker | undefined

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  usdcId = baseSepolia.tokens.find(({ symbol }) => symbol === 'USDC')!.id
})
afterAll(async () => {
  worker?.signal('SIGKILL')
  await harness?.close()
})

const newBlock = () => `0x${randomBytes(32).toString('hex')}`

/** Books transfers of one base unit each, as the indexer does: the odd ones come in, the even ones go out. */
const book = (entityId: string, blockHash: string, count: number, nowMs: number) =>
  harness.database.tx((tx) =>
    post(
      tx,
      nowMs,
      Array.from({ length: count }, (_, index) => {
        const isIn = index % 2 === 1
        const amountAtomic = isIn ? 1n : -1n
        return {
          entityId,
          blockchain,
          blockHash,
          fact: `log:${index}:${isIn ? 'in' : 'out'}:${blockHash}`,
          entries: [
            { kind: 'address' as const, tokenId: usdcId, address: freshAddress(), amountAtomic },
            { kind: 'outside' as const, tokenId: usdcId, amountAtomic: -amountAtomic },
          ],
        }
      }),
    ),
  )

const bucketsOf = (entityId: string) =>
  harness.database.all(sql`select start_date, in_amount, out_amount, transfer_count from flow_buckets
    where entity_id = ${entityId} and transfer_count <> 0 order by start_date`)

/** The buckets by the postings that stand. */
const expectedOf = (entityId: string) =>
  harness.database.all(sql`select date_bin('5 minutes', p.create_date, '1970-01-01Z') as start_date,
      sum(greatest(-e.amount, 0)) as in_amount, sum(greatest(e.amount, 0)) as out_amount, count(*) as transfer_count
    from postings p join entries e on e.entity_id = p.entity_id and e.posting_id = p.id
    join accounts a on a.entity_id = e.entity_id and a.id = e.account_id and a.kind = 'outside'
    where p.entity_id = ${entityId} and p.reverses_id is null
      and not exists (select 1 from postings r where r.entity_id = p.entity_id and r.reverses_id = p.id)
    group by 1 order by 1`)

const waiting = async (entityId: string) =>
  (await harness.database.all(sql`select 1 from uncounted_flow where entity_id = ${entityId}`)).length

/** Waits for the lock of a session that died: PostgreSQL releases it only when it notices, and nobody else counts until then. */
const nobodyCounts = () => until(() => harness.database.tx(lockCounting), 'the lock of counting is free')

it.each(['within-flow-count', 'before-flow-commit'] as const)(
  'property 183: a worker that dies at %s has counted nothing, and the next one counts all once',
  async (point) => {
    const { entityId } = await harness.newEntity()
    const nowMs = harness.ctx.clock.nowMs()
    await book(entityId, newBlock(), 21, nowMs)
    const { rpcUrl } = harness.chain()
    const { connection } = harness
    worker = await spawnWorker()
    const options = { connection, rpcUrl, blockchain, roles: ['flow' as const] }
    await worker.open({ ...options, failpoint: { point, hit: 1, action: 'kill' } })
    await worker.start().catch(() => undefined)
    await worker.exited
    await nobodyCounts()
    expect([await bucketsOf(entityId), await waiting(entityId)]).toEqual([[], 21])
    await countFlow(harness.ctx, newTurn('counting the flow'))
    expect(await waiting(entityId)).toBe(0)
    expect(await bucketsOf(entityId)).toEqual(await expectedOf(entityId))
    expect(await expectedOf(entityId)).toMatchObject([{ transferCount: 21 }])
  },
)

/** The database whose session is ended by the server in front of the statement of this number of its `tx`. */
function breakingAt(database: Database, number: number): Database {
  const broken = async (tx: Db): Promise<Db> => {
    let made = 0
    const { pid } = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)
    const counted =
      <Query extends unknown[], Result>(call: (...query: Query) => Promise<Result>) =>
      async (...query: Query) => {
        made += 1
        if (made === number) await harness.database.one(sql`select pg_terminate_backend(${pid}) as ended`)
        return call(...query)
      }
    return {
      ...tx,
      all: counted(tx.all) as Db['all'],
      one: counted(tx.one) as Db['one'],
      run: counted(tx.run),
    }
  }
  return { ...database, tx: (work, limits) => database.tx(async (tx) => work(await broken(tx)), limits) }
}

it('property 183: connections that break, workers side by side, late commits and reversals count nothing twice', async () => {
  const [busy, quiet] = [(await harness.newEntity()).entityId, (await harness.newEntity()).entityId]
  const nowMs = harness.ctx.clock.nowMs()
  await book(busy, newBlock(), 200, nowMs)
  await book(quiet, newBlock(), 3, nowMs)
  // One claim serves both, whatever the other has waiting.
  await countFlow(harness.ctx, newTurn('counting the flow'), 10)
  expect(await waiting(quiet)).toBe(0)
  // Half of the claim is for each; the second gets what the first leaves.
  expect([193, 195]).toContain(await waiting(busy))
  for (const number of [1, 2, 3, 4, 5]) {
    const before = await waiting(busy)
    const broken = countFlow(
      { database: breakingAt(harness.database, number) },
      newTurn('counting the flow'),
      10,
    )
    await expect(broken).rejects.toThrow()
    await nobodyCounts()
    expect(await waiting(busy)).toBe(before)
  }
  const lost = newBlock()
  let isWriting = true
  const write = async () => {
    for (let round = 0; round < 12; round++) {
      await book(busy, round === 5 ? lost : newBlock(), 7, nowMs + round * 60_000)
      if (round === 8)
        await harness.database.tx((tx) => reversePostings(tx, nowMs + 9 * 60_000, blockchain, lost))
    }
    isWriting = false
  }
  // It began before all others, and commits when the rest is counted.
  const late = harness.database.tx(async (tx) => {
    await post(tx, nowMs, [
      {
        entityId: quiet,
        blockchain,
        blockHash: newBlock(),
        fact: 'log:0:in:late',
        entries: [
          { kind: 'address', tokenId: usdcId, address: freshAddress(), amountAtomic: 5n },
          { kind: 'outside', tokenId: usdcId, amountAtomic: -5n },
        ],
      },
    ])
    await until(async () => !isWriting && (await waiting(busy)) === 0, 'all others are counted')
  })
  const count = async () => {
    const turn = newTurn('counting the flow')
    while (isWriting || (await waiting(busy)) > 0) await countFlow(harness.ctx, turn, 13)
  }
  await Promise.all([write(), count(), count(), late])
  await countFlow(harness.ctx, newTurn('counting the flow'))
  for (const entityId of [busy, quiet]) {
    expect(await waiting(entityId)).toBe(0)
    expect(await bucketsOf(entityId)).toEqual(await expectedOf(entityId))
  }
})

it('counts no move between two addresses of one entity, nor its reversal', async () => {
  const { entityId } = await harness.newEntity()
  const nowMs = harness.ctx.clock.nowMs()
  const blockHash = newBlock()
  const sides = ['out', 'in'].map((direction, index) => ({
    entityId,
    blockchain,
    blockHash,
    fact: `log:4:${direction}:0x1`,
    entries: [
      {
        kind: 'address' as const,
        tokenId: usdcId,
        address: freshAddress(),
        amountAtomic: index === 0 ? -4n : 4n,
      },
      { kind: 'outside' as const, tokenId: usdcId, amountAtomic: index === 0 ? 4n : -4n },
    ],
  }))
  await harness.database.tx((tx) => post(tx, nowMs, sides))
  await harness.database.tx((tx) => reversePostings(tx, nowMs, blockchain, blockHash))
  expect(await waiting(entityId)).toBe(0)
  // Sides of two places are two transfers: a payment, and another payment.
  const { entityId: other } = await harness.newEntity()
  const apart = sides.map((side, index) => ({
    ...side,
    entityId: other,
    fact: side.fact.replace('4', String(index)),
  }))
  await harness.database.tx((tx) => post(tx, nowMs, apart))
  expect(await waiting(other)).toBe(2)
})

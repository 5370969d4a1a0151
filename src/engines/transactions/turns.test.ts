/** One tenant has much work that cannot move, on wallets without a signing key; another requests a transfer that can. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Chain } from '#chains/chain'
import { openAsOwner, sql } from '#runtime/db/db'
import { newTurn } from '#runtime/turns/store'
import { transferActions } from '#testing/builders/transfers'
import type { Wallet } from '#testing/builders/world'
import {
  addressOf,
  insertAttemptsBelow,
  insertRows,
  insertSentTransactions,
  type NumberedRow,
  transaction,
} from '#testing/databases/queue-rows'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { sizeOf } from '#testing/runner/size'
import { screener } from './screen.ts'
import { gapFiller } from './sequence/fill-gaps.ts'
import { signReplacements } from './sequence/replace.ts'
import { signWaiting } from './sign.ts'

const stuckTotal = sizeOf('STUCK_ROWS', { usual: 120, deep: 1_000 })
const inFlightMax = 2
/** Maximum number of senders that a round visits. */
const roundMax = 24
const rounds = Math.ceil(stuckTotal / roundMax) + 1

let harness: Harness
let on: ReturnType<typeof transferActions>
let node: LyingNode
let chain: Chain
let wallet: Wallet
let stuck: NumberedRow[]

beforeAll(async () => {
  harness = await openHarness({
    config: { logLevel: 'fatal' },
    node: async ({ rpcUrl }) => {
      node = await openLyingNode(rpcUrl)
      return { rpcUrl: node.url, inFlightMax }
    },
  })
  on = transferActions(harness)
  chain = harness.ctx.chains.list()[0]!
  const { entityId } = await harness.newEntity()
  stuck = Array.from({ length: stuckTotal }, (_, index) => ({ entityId, index: index + 1 }))
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

beforeEach(async () => {
  wallet = await on.fundedWallet()
})
afterEach(async () => {
  node.lie(undefined)
  const owner = openAsOwner(harness.connection)
  await owner.script(`delete from attempts where entity_id = '${stuck[0]!.entityId}';
    delete from transactions where entity_id = '${stuck[0]!.entityId}'; truncate deferrals`)
  await owner.close()
  await harness.chain().setAutomine(true)
  await harness.chain().mine()
  harness.startEngines()
})

const estimates = () => node.callCounts.get('eth_estimateGas') ?? 0
const sign = async (turn = newTurn('signing')) => {
  await screener(harness.ctx, chain)()
  return signWaiting(harness.ctx, chain, turn, () => undefined)
}

it('property 64: senders that no node can estimate delay no other, and are deferred', async () => {
  await harness.stopEngines()
  await insertRows(
    harness.database,
    'transactions',
    stuck.map((made) => transaction(made)),
  )
  const undecidable = new Set(stuck.map(addressOf))
  let slowMs = 1_000
  let ended = 0
  let begunLater = 0
  node.lie(async (method, result, [call]) => {
    if (method !== 'eth_estimateGas' || !undecidable.has(call.from)) return result
    if (ended > 0) begunLater += 1
    await sleep(slowMs)
    ended += 1
    return 'nothing that can be read'
  })
  const id = await on.transfer(wallet)
  await sign()
  expect((await on.read(id)).state).toBe('QUEUED')
  // A new request would wait for the end of the round, which begins nothing after a slow answer.
  expect(ended).toBeGreaterThan(0)
  expect(begunLater).toBe(0)
  slowMs = 0
  for (let round = 0; round < stuckTotal && (await sign()); round++);
  await harness.database.run(sql`update deferrals set next_attempt_at = now() + interval '1 hour'`)
  const after = estimates()
  for (let round = 0; round < rounds; round++) await sign()
  expect(estimates()).toBe(after)
})

it('property 64: a deferred sender is not read before its next attempt', async () => {
  await harness.stopEngines()
  await insertRows(harness.database, 'transactions', [
    transaction(stuck[0]!, { create_date: new Date().toISOString() }),
  ])
  node.lie((method, result) => (method === 'eth_estimateGas' ? 'nothing that can be read' : result))
  const looks = () => node.callCounts.get('eth_getTransactionCount') ?? 0
  const before = { estimates: estimates(), looks: looks() }
  await until(async () => {
    await sign()
    return estimates() - before.estimates >= 4
  }, 'it was asked about again and again')
  expect(looks() - before.looks).toBe(estimates() - before.estimates)
})

it('property 64: nothing is simulated for a sender at its limit in flight', async () => {
  await harness.chain().setAutomine(false)
  const ids: string[] = []
  // Sequentially: earlier requests are signed first.
  while (ids.length < inFlightMax + 2) ids.push(await on.transfer(wallet))
  for (const id of ids.slice(0, inFlightMax)) await on.sent(id, 'original')
  await harness.stopEngines()
  const before = estimates()
  for (let round = 0; round < rounds; round++) {
    await harness.database.run(sql`delete from deferrals`)
    await sign()
  }
  expect(estimates()).toBe(before)
  await harness.chain().setAutomine(true)
  await harness.chain().mine()
  harness.startEngines()
  for (const id of ids) await on.reaches(id, 'COMPLETE')
})

it('property 64: nonce gaps that cannot be filled delay no other', async () => {
  await harness.stopEngines()
  const ids = [await on.transfer(wallet), await on.transfer(wallet)]
  await sign()
  const [first] = await on.attemptsOf(ids[0]!)
  await harness.database.run(sql`update attempts set state = 'rejected' where id = ${first!.id}`)
  await insertSentTransactions(harness.database, stuck)
  await insertAttemptsBelow(harness.database, stuck, { state: 'rejected' })
  const fill = gapFiller(harness.ctx, chain)
  await fill()
  const kinds = (await on.attemptsOf(ids[1]!)).map(({ kind }) => kind)
  expect(kinds).toEqual(['original', 'noop'])
})

it('property 64: replacement requests that cannot be met delay no other', async () => {
  await harness.chain().setAutomine(false)
  const id = await on.transfer(wallet)
  await on.sent(id, 'original')
  await harness.stopEngines()
  await insertSentTransactions(harness.database, stuck, { transaction: { requested_replacement: 'bump' } })
  expect((await on.ask(id, 'cancel')).status).toBe(200)
  await signReplacements(harness.ctx, chain, newTurn('replacing'))
  expect((await on.attemptsOf(id)).map(({ kind }) => kind)).toEqual(['original', 'cancel'])
})

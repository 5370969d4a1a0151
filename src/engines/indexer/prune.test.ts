import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Chain } from '#chains/chain'
import { readConfig } from '#runtime/config'
import { type Database, openAsOwner, raw, sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { shortFinalityNetwork } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { findFork } from './accept-fork.ts'
import { finalNonceUses } from './observed/store/transfers.ts'
import { prune } from './prune.ts'
import { reconcile } from './reconciliation/reconcile.ts'
import { canonicalHead, oldestNumber } from './store/blocks.ts'
import { findHalt } from './store/halts.ts'
import { haveAllProcessedSteps, highestFinal } from './store/steps.ts'

const { blockchain, confirmations } = shortFinalityNetwork
/** Tables that record movements of money, or prevent their repetition. */
const proofs = [
  'postings',
  'entries',
  'holds',
  'hold_resolutions',
  'events',
  'audit',
  'signatures',
  'policy_decisions',
  'attempts',
  'transactions',
  'observed_transactions',
  'observed_transfers',
]
let harness: Harness
let owner: Database
let chain: Chain
let wallet: Wallet
const paid: string[] = []

beforeAll(async () => {
  harness = await openHarness({ blockchains: [blockchain], node: async () => ({ local: false }) })
  owner = openAsOwner(harness.connection)
  chain = harness.ctx.chains.find(blockchain)!
  wallet = await transferActions(harness).fundedWallet()
  await pay()
  await harness.chain().reorg(2)
  await harness.chain().mine(confirmations)
  await followed()
  // Every minute they remove old blocks themselves.
  await harness.stopEngines()
})
beforeEach(() => age('8 days'))
afterAll(async () => {
  await owner?.close()
  await harness?.close()
})

/** Ages all blocks by the interval. */
const age = (interval: string) =>
  owner.run(sql`update blocks set block_time = now() - ${raw(`interval '${interval}'`)}`)

async function pay(): Promise<void> {
  const on = transferActions(harness)
  const to = freshAddress()
  const id = await on.transfer(wallet, { destinationAddress: to })
  await on.reaches(id, 'CONFIRMED')
  await harness.chain().mine(confirmations)
  await on.reaches(id, 'COMPLETE')
  paid.push(to)
}

async function followed(): Promise<void> {
  const height = await harness.chain().height()
  await until(async () => {
    const head = await canonicalHead(harness.database, blockchain)
    return head?.number === height && (await haveAllProcessedSteps(harness.database, blockchain))
  }, 'all blocks are followed')
}

const countOf = async (table: string, condition = 'true') =>
  (await owner.one<{ n: number }>(sql`select count(*) as n from ${raw(table)} where ${raw(condition)}`)).n

const counts = async (tables: readonly string[]) =>
  Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await countOf(table)] as const)))

it('property 71: keeps young blocks, and steps that an engine has not processed', async () => {
  const before = await counts(['blocks', 'block_steps'])
  const future = { ...harness.ctx, clock: { nowMs: () => Date.now() + 365 * 86_400_000 } }
  await age('6 days 23 hours')
  expect(await prune(future, chain)).toBe(0)
  await age('8 days')
  expect(
    await prune({ ...harness.ctx, config: { ...harness.ctx.config, blockRetentionDays: 9 } }, chain),
  ).toBe(0)
  const cursor = sql`update step_cursors set step = 1 where engine = 'treasury'`
  const { step } = await owner.one<{ step: number }>(
    sql`select step from step_cursors where engine = 'treasury'`,
  )
  await owner.run(cursor)
  expect(await prune(harness.ctx, chain)).toBe(0)
  await owner.run(sql`update step_cursors set step = ${step} where engine = 'treasury'`)
  expect(await counts(['blocks', 'block_steps'])).toEqual(before)
})

it('property 71: removes old blocks and steps in batches, and no proof of money', async () => {
  const { entityId } = harness
  const final = await highestFinal(harness.database, blockchain)
  const uses = () =>
    finalNonceUses(harness.database, blockchain, final, [{ entityId, address: wallet.address, nonce: 0 }])
  const [before, orphaned, used] = [
    await counts(proofs),
    await countOf('blocks', 'not canonical'),
    await uses(),
  ]
  expect([orphaned > 0, used.length]).toEqual([true, 1])
  expect(await prune(harness.ctx, chain, 3)).toBe(3)
  while ((await prune(harness.ctx, chain, 3)) > 0);
  expect(await oldestNumber(harness.database, blockchain)).toBe(final)
  expect(await countOf('block_steps', `block_number < ${final}`)).toBe(0)
  expect(await countOf('blocks', 'not canonical')).toBe(orphaned)
  expect(await counts(proofs)).toEqual(before)
  expect(await uses()).toEqual(used)
})

it('property 71: indexes above the removed blocks, with books that equal the chain', async () => {
  harness.startEngines()
  await pay()
  await followed()
  const { gaps, block } = await reconcile(harness.ctx, chain)
  expect([gaps, block !== undefined]).toEqual([[], true])
  await checkLedger(harness.database)
  const { oracle, tokens } = harness.chain()
  await oracle.checkMovedOnce(paid.map((to) => ({ to, token: tokens.USDC, amountAtomic: 500_000n })))
})

it('property 71: the role of the program cannot remove more', async () => {
  for (const change of [
    'delete from blocks',
    'delete from block_steps',
    'update block_steps set step = step',
  ])
    await expect(harness.database.script(change), change).rejects.toMatchObject({ code: '42501' })
  expect(() => readConfig({}, { BEZANT_BLOCK_RETENTION_DAYS: '6' })).toThrow('must be 7 or more')
})

it('property 71: refuses to accept a reorg below the kept blocks, and keeps the blocks of a halted chain', async () => {
  const { reorg, mine, height, rpc } = harness.chain()
  while ((await prune(harness.ctx, chain)) > 0);
  const oldest = await oldestNumber(harness.database, blockchain)
  await reorg((await height()) - oldest + 2)
  await mine()
  await until(async () => (await findHalt(harness.database, blockchain)) !== undefined, 'it is halted')
  const { hash } = await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  await expect(findFork(harness.ctx, chain, hash)).rejects.toThrow(`below block ${oldest}, the oldest`)
  const before = await counts(['blocks', 'block_steps'])
  expect(await prune(harness.ctx, chain)).toBe(0)
  expect(await counts(['blocks', 'block_steps'])).toEqual(before)
})

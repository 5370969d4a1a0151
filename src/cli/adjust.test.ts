import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { networkOf } from '#chains/networks/index'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { post } from '#engines/ledger/index'
import {
  type AdjustmentPlan,
  bookAdjustments,
  GapChanged,
  planAdjustments,
  proveMoney,
} from '#engines/treasury/reconciliation/index'
import { requireTreasury } from '#engines/treasury/treasuries'
import { openAsOwner, sql } from '#runtime/db/db'
import { forgeMoney } from '#testing/builders/forged-money'
import { checkLedger } from '#testing/builders/ledger-checks'
import { fundMerchantWallet, type World, worldOf } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { programFile } from '#testing/processes/programs'
import { adjustCommand } from './adjust.ts'
import { parseCommand } from './command.ts'

const blockchain = 'ETH-SEPOLIA'
const unit = 1_000_000n
const by = ['--actor', 'finance', '--reason', 'sent before the treasury was opened']

let harness: Harness
let printed = ''
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', blockchain] })
})
afterAll(async () => {
  await checkLedger(harness.database)
  await harness.close()
})
beforeEach(() => {
  for (const [name, value] of Object.entries(settings())) vi.stubEnv(name, value)
  printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text
    return true
  })
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Environment variables with which an operator reaches this platform from outside. */
function settings(): Record<string, string> {
  const { connection, chains } = harness
  const networks = chains.map((chain) => ({ blockchain: chain.blockchain, rpcUrls: [chain.rpcUrl] }))
  return {
    DATABASE_URL: urlOf(connection),
    BEZANT_ROOT_KEY: testRootKey.toString('hex'),
    BEZANT_NETWORKS: JSON.stringify(networks),
  }
}

const adjust = (world: World, ...args: string[]) => {
  const parsed = parseCommand('adjust', adjustCommand, ['--entity', world.tenant.entityId, ...args])
  if (parsed === 'help') throw new Error('these are no arguments')
  return adjustCommand.run(parsed)
}

/** Runs the command with this input at the terminal, or none. */
function answered(world: World, typed: string) {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(typed === '' ? [] : [typed]) as never)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  return adjust(world, ...by)
}

/** Runs the command in a separate process and confirms its question after `meanwhile`. */
async function answeredAfter(world: World, meanwhile: () => Promise<unknown>) {
  const args = ['adjust', '--entity', world.tenant.entityId, ...by]
  const child = spawn(process.execPath, [await programFile('bezant'), ...args])
  let said = ''
  child.stdout.on('data', (chunk) => void (said += chunk))
  child.stderr.on('data', (chunk) => void (said += chunk))
  const closed = once(child, 'close') as Promise<[number]>
  await until(async () => said.includes('Type yes to continue:'), 'the command asks')
  await meanwhile()
  child.stdin.end('yes\n')
  return { code: (await closed)[0], said }
}

const merchant = async () => worldOf(harness, await harness.newEntity())
const chain = () => harness.ctx.chains.find(blockchain)!
const plan = ({ tenant }: World): Promise<AdjustmentPlan> =>
  planAdjustments(harness.ctx, [chain()], tenant.entityId)
const gapsOf = async ({ tenant }: World) => {
  const coins = (await reconcile(harness.ctx, chain())).gaps
  const money = (await proveMoney(harness.database)).gaps
  return [...coins, ...money].filter(({ entityId }) => entityId === tenant.entityId)
}
const bookedFor = ({ tenant }: World) =>
  harness.database.all<{ amount: bigint; token: boolean; reason: string; actor: string; audited: string }>(
    sql`select j.amount, j.token_id is not null as token, j.reason, j.actor, a.actor as audited
      from adjustments j join audit a on a.entity_id = j.entity_id and a.resource_id = j.id::text
        and a.action = 'books.adjusted'
      where j.entity_id = ${tenant.entityId} order by j.id`,
  )

/** Waits until the books contain the chain's own last block, also after a reorg. */
const untilFollowed = () =>
  until(async () => {
    const { hash } = await harness
      .chain(blockchain)
      .rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    const query = sql`select 1 from blocks where canonical and blockchain = ${blockchain} and hash = ${hash}`
    return (await harness.database.all(query)).length > 0
  }, 'the last block was read')

/** Sends coins to the address of a treasury before it is opened there: no block reports them afterwards. */
async function makeGap(world: World, amountAtomic: bigint): Promise<void> {
  const { entityId } = world.tenant
  const open = (name: string) =>
    harness.database.tx((db) => requireTreasury({ ...harness.ctx, db }, entityId, networkOf(name)!))
  const { address } = await open('BASE-SEPOLIA')
  await harness.chain(blockchain).send(address, amountAtomic, 'USDC')
  await untilFollowed()
  await open(blockchain)
}

describe('property 70: only a named adjustment corrects the books', () => {
  it('coins sent before a treasury was opened are booked once, and stay booked after a reorg', async () => {
    const world = await merchant()
    await makeGap(world, 5n * unit)
    expect(await gapsOf(world)).toMatchObject([{ onChainAtomic: 5n * unit, bookedAtomic: 0n }])

    expect(await adjust(world, ...by, '--yes')).toBe(0)
    expect(printed).toMatch(/^plan [0-9a-f]{12}\nENTITY .*\n.* ETH-SEPOLIA +0x[0-9a-f]{40} +5 +USDC\n/)
    expect(await gapsOf(world)).toEqual([])
    const booked = { reason: by[3], actor: 'operator:finance', audited: 'operator:finance' }
    expect(await bookedFor(world)).toEqual([
      { amount: 5n * unit, token: true, ...booked },
      { amount: 5n * unit, token: false, ...booked },
    ])
    const { totals } = await proveMoney(harness.database)
    expect(totals).toMatchObject([{ currency: 'USD', adjusted: 5n * unit, gap: 0n }])
    expect((await world.call('GET', '/v1/businessAccount/balances')).available).toEqual([])

    await harness.chain(blockchain).mine(3)
    await harness.chain(blockchain).reorg(3)
    await untilFollowed()
    expect(await gapsOf(world)).toEqual([])
    printed = ''
    expect(await adjust(world, ...by, '--yes')).toBe(0)
    expect(printed).toBe('no gaps to close\n')
    expect(await bookedFor(world)).toHaveLength(2)
  })

  it('money without coins behind it is booked as missing, and the balance of the merchant stays', async () => {
    const world = await merchant()
    await fundMerchantWallet(world, 2n * unit)
    await forgeMoney(world, 3n * unit)
    expect(await gapsOf(world)).toMatchObject([{ currency: 'USD', gap: -3n * unit }])
    expect(await adjust(world, ...by, '--yes')).toBe(0)
    expect(printed).toMatch(/ - +- +-3 +USD\n/)
    expect(await gapsOf(world)).toEqual([])
    const { available } = await world.call('GET', '/v1/businessAccount/balances')
    expect(available).toEqual([{ amount: '5.00', currency: 'USD' }])
    await forgeMoney(world, -3n * unit)
    expect(await adjust(world, ...by, '--yes')).toBe(0)
    expect((await bookedFor(world)).map(({ amount }) => amount)).toEqual([-3n * unit, 3n * unit])
  })

  it('nothing is booked without a confirmation, without a reason, or for another plan than the one shown', async () => {
    const world = await merchant()
    await forgeMoney(world, -unit)
    for (const typed of ['no\n', 'y\n', '\n', '']) expect(await answered(world, typed)).toBe(1)
    await expect(adjust(world, '--actor', 'finance', '--yes')).rejects.toThrow('--reason is missing')
    await expect(adjust(world, '--reason', ' ', '--actor', 'finance', '--yes')).rejects.toThrow(
      '--reason is missing',
    )
    await expect(adjust(world, '--reason', 'dust', '--yes')).rejects.toThrow('--actor is missing')
    await expect(adjust(world, ...by, '--yes', '--expect', '0'.repeat(12))).rejects.toThrow(GapChanged)
    expect(await bookedFor(world)).toEqual([])
    const { id } = await plan(world)
    expect(await adjust(world, ...by, '--yes', '--expect', id)).toBe(0)
    expect(await gapsOf(world)).toEqual([])
  })

  it('a gap that changes between the question and the answer is refused', async () => {
    const world = await merchant()
    await forgeMoney(world, -unit)
    const { code, said } = await answeredAfter(world, () => forgeMoney(world, -unit))
    expect([code, said]).toEqual([1, expect.stringContaining('a gap has changed since it was shown')])
    expect(await bookedFor(world)).toEqual([])
    expect(await answered(world, 'yes\n')).toBe(0)
    expect((await bookedFor(world)).map(({ amount }) => amount)).toEqual([2n * unit])
  })

  it('one of several operators with the same plan books it', async () => {
    const world = await merchant()
    await makeGap(world, 7n)
    const shown = await plan(world)
    const ends = await Promise.allSettled(
      Array.from({ length: 4 }, () =>
        bookAdjustments(harness.ctx, shown, { actor: 'operator:finance', reason: 'dust' }),
      ),
    )
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    for (const end of ends) if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(GapChanged)
    expect(await gapsOf(world)).toEqual([])
    expect(await bookedFor(world)).toHaveLength(2)
  })

  it('the database refuses entries of these accounts without an adjustment, or with a repeated one', async () => {
    const world = await merchant()
    const { entityId } = world.tenant
    await forgeMoney(world, -unit)
    expect(await adjust(world, ...by, '--yes')).toBe(0)
    const { id } = await harness.database.one<{ id: string }>(
      sql`select id from adjustments where entity_id = ${entityId}`,
    )
    const entries = [
      { kind: 'adjustment', currency: 'USD', amountAtomic: 1n },
      { kind: 'settlement', currency: 'USD', amountAtomic: -1n },
    ] as const
    const bookAs = (fact: string) =>
      harness.database.tx((tx) =>
        post(tx, harness.clock.nowMs(), [{ entityId, blockchain: '', blockHash: '', fact, entries }]),
      )
    for (const fact of ['by hand', `adjustment:${randomUUID()}`])
      await expect(bookAs(fact)).rejects.toMatchObject({ constraint: 'entries_adjusted_by_name' })
    await expect(bookAs(`adjustment:${id}`)).rejects.toMatchObject({ constraint: 'postings_adjusted_once' })
    const rewrite = sql`update adjustments set amount = 2 where id = ${id}`
    await expect(harness.database.run(rewrite)).rejects.toThrow(/permission denied/)
    const owner = openAsOwner(harness.connection)
    await expect(owner.run(rewrite)).rejects.toThrow(/append-only/)
    await owner.close()
    expect(await gapsOf(world)).toEqual([])
  })
})

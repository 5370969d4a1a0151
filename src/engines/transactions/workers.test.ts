/**
 * Worker processes are killed at random moments with transfers under way, and others go on. Every send is held at the
 * node's address until the database was checked for its bytes: no bytes may leave that are not durable.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { sql } from '#runtime/db/db'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until, untilNone } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { sizeOf } from '#testing/runner/size'

const transfersTotal = sizeOf('CRASH_TRANSFERS', { usual: 18, deep: 1_000 })
const kills = sizeOf('CRASH_KILLS', { usual: 2, deep: 40 })
const walletCount = 2

let harness: Harness
let world: World
let wallets: Wallet[]
let indexer: { stop(): Promise<void> }
let stopMining: (() => Promise<void>) | undefined
/** Number of killings that let no block be mined: what they interrupt is under way when it is counted. */
let blocksHeld = 0
const workers = new Set<Worker>()
const undurable: string[] = []
let sends = 0

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
  indexer = startIndexer(harness.ctx)
  wallets = []
  for (let index = 0; index < walletCount; index++) {
    const wallet = await makeWallet(world)
    await harness.fundWallet(wallet.address, { usdc: '1000', native: '100' })
    wallets.push(wallet)
  }
  await until(async () => (await fundedAccounts()) === 2 * walletCount, 'the wallets have their coins')
  harness.chain().intercept(requireDurable)
  await harness.chain().setAutomine(false)
  stopMining = startMining()
})
afterAll(async () => {
  for (const worker of workers) worker.signal('SIGKILL')
  await stopMining?.()
  await indexer?.stop()
  await harness?.close()
})

/** Mines blocks at an interval. */
function startMining(): () => Promise<void> {
  let stopped = false
  const mining = (async () => {
    while (!stopped) {
      if (blocksHeld === 0) await harness.chain().mine()
      await sleep(150)
    }
  })()
  return () => {
    stopped = true
    return mining
  }
}

const fundedAccounts = async () => {
  const addresses = wallets.map(({ address }) => address)
  const rows = await harness.database.all(
    sql`select 1 from accounts where address = any(${addresses}::text[]) and posted > 0`,
  )
  return rows.length
}

/** Checks, before the node sees them, that these bytes are stored and committed. */
async function requireDurable({ body }: { body: Buffer }): Promise<'forward'> {
  const parsed = JSON.parse(body.toString())
  const asked: { method: string; params: string[] }[] = Array.isArray(parsed) ? parsed : [parsed]
  for (const { method, params } of asked) {
    if (method !== 'eth_sendRawTransaction') continue
    sends += 1
    const bytes = Buffer.from(params[0]!.slice(2), 'hex')
    const rows = await harness.database.all(sql`select 1 from attempts where raw_transaction = ${bytes}`)
    if (rows.length !== 1) undurable.push(params[0]!)
  }
  return 'forward'
}

/** A worker that is open and idle; `start` starts its work. */
async function prepareWorker(): Promise<Worker> {
  const { connection } = harness
  const { rpcUrl, blockchain } = harness.chain()
  const worker = await spawnWorker()
  workers.add(worker)
  await worker.open({ connection, rpcUrl, blockchain, roles: ['transactions'] })
  return worker
}

type Order = { from: string; walletId: string; to: string; amountAtomic: bigint; id?: string }

async function submit(order: Order): Promise<void> {
  const amount = `0.${order.amountAtomic.toString().padStart(6, '0')}`
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletId: order.walletId,
    tokenId: world.usdcId,
    destinationAddress: order.to,
    amounts: [amount],
    feeLevel: 'MEDIUM',
  })
  order.id = id
}

it(`property 2: each of ${transfersTotal} transfers moves its value once although ${kills} workers are killed`, async () => {
  const orders = Array.from({ length: transfersTotal }, (_, index): Order => {
    const wallet = wallets[index % walletCount]!
    return { from: wallet.address, walletId: wallet.id, to: freshAddress(), amountAtomic: BigInt(index + 1) }
  })
  let submitted = 0
  let started = 0
  // Each started worker adds its share of orders, so that there is work to send when it is killed.
  const share = Math.floor(transfersTotal / (kills + 1))
  const submitting = (async () => {
    for (const order of orders) {
      await until(async () => started >= kills || submitted < share * started, 'a worker has started')
      await submit(order)
      submitted += 1
    }
  })()
  let struck = 0
  const killing = async (count: number) => {
    let next = prepareWorker()
    for (let kill = 0; kill < count; kill++) {
      const worker = await next
      next = prepareWorker()
      const before = sends
      blocksHeld += 1
      await worker.start()
      started += 1
      await until(async () => sends > before, 'something is being sent')
      await sleep(randomInt(0, 100))
      worker.signal('SIGKILL')
      await worker.exited
      struck += await underWay()
      blocksHeld -= 1
    }
    return next
  }
  const survivors = await Promise.all([killing(Math.ceil(kills / 2)), killing(Math.floor(kills / 2))])
  const found = await harness.database.all<{ state: string; n: number }>(
    sql`select state, count(*) as n from attempts group by 1 order by 1`,
  )
  const shown = found.map(({ state, n }) => `${n} ${state}`).join(', ')
  console.info(`${kills} workers killed with ${submitted} submitted; of the attempts were ${shown}`)
  expect(struck).toBeGreaterThan(0)
  for (const survivor of survivors) await survivor.start()
  await submitting
  await untilNone(() => countNotIn('COMPLETE'), 'every transfer is complete')

  const { oracle, tokens } = harness.chain()
  await oracle.checkMovedOnce(
    orders.map(({ from, to, amountAtomic }) => ({ from, to, token: tokens.USDC, amountAtomic })),
  )
  for (const { address } of wallets) {
    await oracle.checkNonces(address)
    expect(await oracle.transactions(address)).toHaveLength(transfersTotal / walletCount)
  }
  expect(sends).toBeGreaterThanOrEqual(transfersTotal)
  expect(undurable).toEqual([])
  const attempts = await harness.database.all<{ state: string }>(sql`select distinct state from attempts`)
  expect(attempts).toEqual([{ state: 'mined' }])
  const count = await harness.database.one<{ attempts: number; held: bigint }>(sql`select
    (select count(*) from attempts) as attempts, (select sum(held) from accounts) as held`)
  expect(count).toEqual({ attempts: transfersTotal, held: 0n })
})

/** Attempts that are signed and in no block yet. */
async function underWay(): Promise<number> {
  const open = sql`select count(*) as n from attempts where state in ('signed', 'sent')`
  return (await harness.database.one<{ n: number }>(open)).n
}

async function countNotIn(state: string): Promise<number> {
  const { n } = await harness.database.one<{ n: number }>(sql`select count(*) as n from transactions
    where transaction_type = 'OUTBOUND' and state <> ${state}`)
  return n
}

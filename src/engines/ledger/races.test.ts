import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { newId } from '#lib/ids'
import { systemClock } from '#lib/time'
import { type Database, type Db, openDatabase } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { cloneDatabase } from '#testing/databases/database'
import { whenConnected } from '#testing/databases/when-connected'
import { isDeep } from '#testing/runner/size'
import { InsufficientFunds, placeHolds, resolveHolds } from './holds/index.ts'
import { balancesOf, post } from './index.ts'
import { seedTokens } from './tokens/index.ts'

const { blockchain } = baseSepolia
const [usdc, eurc] = baseSepolia.tokens.map((token) => token.id) as [string, string]
const nowMs = systemClock.nowMs()
/** Two connection pools, as of two processes. */
let pools: Database[]
let drop: () => Promise<void>

beforeAll(async () => {
  const clone = await cloneDatabase('empty')
  drop = clone.drop
  pools = [openDatabase(clone.connection, 12), openDatabase(clone.connection, 12)]
  await seedTokens(pools[0]!, [baseSepolia], nowMs)
})
afterAll(async () => {
  await checkLedger(pools[0]!)
  for (const pool of pools) await pool.close()
  await drop()
})

const change = <Result>(database: Database, work: (tx: Db) => Promise<Result>) =>
  whenConnected(() => database.tx(work))

const addressOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}`
const received = (entityId: string, address: string, tokenId: string, amountAtomic: bigint) => ({
  entityId,
  blockchain,
  blockHash: '0x01',
  fact: `log:${randomUUID()}`,
  entries: [
    { kind: 'address' as const, tokenId, address, amountAtomic },
    { kind: 'outside' as const, tokenId, amountAtomic: -amountAtomic },
  ],
})
const held = (entityId: string, address: string, tokenId: string, amountAtomic: bigint) => ({
  entityId,
  blockchain,
  tokenId,
  address,
  intentId: randomUUID(),
  purpose: 'amount' as const,
  amountAtomic,
})

const rounds = isDeep ? 50 : 3
const coverable = isDeep ? 100 : 30
const crossing = isDeep ? 240 : 40
const blockTransfers = isDeep ? 2_000 : 400
const holdsAtOnce = isDeep ? 1_000 : 100

it('a balance of N accepts exactly N of 2N concurrent holds of 1', async () => {
  for (let round = 0; round < rounds; round++) {
    const entityId = newId(nowMs)
    const address = addressOf(round)
    await change(pools[0]!, (tx) => post(tx, nowMs, [received(entityId, address, usdc, BigInt(coverable))]))
    const tries = Array.from({ length: 2 * coverable }, (_, index) =>
      change(pools[index % 2]!, (tx) => placeHolds(tx, nowMs, [held(entityId, address, usdc, 1n)])).then(
        () => 'held',
        (error) => (error instanceof InsufficientFunds ? 'refused' : String(error)),
      ),
    )
    const outcomes = await Promise.all(tries)
    expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(coverable)
    expect(outcomes.filter((outcome) => outcome !== 'held' && outcome !== 'refused')).toEqual([])
    const [balance] = await balancesOf(pools[0]!, entityId, blockchain, [address])
    expect(balance).toMatchObject({ postedAtomic: BigInt(coverable), heldAtomic: BigInt(coverable) })
  }
})

it('postings, holds and resolutions on the same accounts in any order never deadlock', async () => {
  const entityId = newId(nowMs)
  const addresses = Array.from({ length: 6 }, (_, index) => addressOf(0xff00 + index))
  const pairs = addresses.flatMap((address) => [[address, usdc] as const, [address, eurc] as const])
  const shuffled = (seed: number) =>
    pairs
      .map((pair, index) => [(index * 7919 + seed * 104729) % 1009, pair] as const)
      .sort(([a], [b]) => a - b)
  const work = Array.from({ length: crossing }, async (_, seed) => {
    const order = shuffled(seed).map(([, pair]) => pair)
    const database = pools[seed % 2]!
    const postings = order.map(([address, token]) => received(entityId, address, token, 10n))
    const holds = order.slice(0, 5).map(([address, token]) => held(entityId, address, token, 1n))
    await change(database, (tx) => post(tx, nowMs, postings))
    await change(database, (tx) => placeHolds(tx, nowMs, holds))
    const resolutions = holds.map(({ intentId }) => ({ entityId, intentId, outcome: 'posted' as const }))
    await change(database, (tx) => resolveHolds(tx, nowMs, resolutions.reverse()))
  })
  const failed = (await Promise.allSettled(work)).flatMap((result) =>
    result.status === 'rejected' ? [String(result.reason)] : [],
  )
  expect(failed).toEqual([])
  const balances = await balancesOf(pools[0]!, entityId, blockchain, addresses)
  expect(balances.map((row) => [row.postedAtomic, row.heldAtomic])).toEqual(
    pairs.map(() => [10n * BigInt(crossing), 0n]),
  )
})

it('books blocks of many transfers while many holds are placed on one account', async () => {
  const entityId = newId(nowMs)
  const database = pools[0]!
  const block = (wallets: number) =>
    Array.from({ length: blockTransfers }, (_, index) =>
      received(entityId, addressOf(0x10000 + (index % wallets)), usdc, 5n),
    )
  const address = addressOf(0x10000)
  // Posts to new accounts, to known ones, and all to one.
  for (const wallets of [blockTransfers, blockTransfers, 1])
    await change(database, (tx) => post(tx, nowMs, block(wallets)))
  await Promise.all(
    Array.from({ length: holdsAtOnce }, () =>
      change(database, (tx) => placeHolds(tx, nowMs, [held(entityId, address, usdc, 1n)])),
    ),
  )
  expect(await balancesOf(database, entityId, blockchain, [address])).toMatchObject([
    { postedAtomic: 5n * BigInt(blockTransfers + 2), heldAtomic: BigInt(holdsAtOnce) },
  ])
})

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { newId } from '#lib/ids'
import { systemClock } from '#lib/time'
import { type Db, openAsOwner, sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { isDeep } from '#testing/runner/size'
import { InsufficientFunds, placeHolds, resolveHolds } from './holds/index.ts'
import { balancesOf, type Entry, type Posting, post, reversePostings } from './index.ts'
import { seedTokens } from './tokens/index.ts'

const { blockchain } = baseSepolia
const tokenId = baseSepolia.tokens[0]!.id
const nowMs = systemClock.nowMs()
const address = `0x${'ab'.repeat(20)}`
const rounds = isDeep ? 30 : 8
let test: TestDatabase

beforeAll(async () => {
  test = await openTestDatabase()
  await seedTokens(test.database, [baseSepolia], nowMs)
})
afterAll(async () => {
  await checkLedger(test.database)
  await test.close()
})

const received = (entityId: string, amountAtomic: bigint, blockHash = '0x01', to = address): Posting => ({
  entityId,
  blockchain,
  blockHash,
  fact: `log:${randomUUID()}`,
  entries: [
    { kind: 'address', tokenId, address: to, amountAtomic },
    { kind: 'outside', tokenId, amountAtomic: -amountAtomic },
  ],
})

const hold = (entityId: string, amountAtomic: bigint, intentId: string = randomUUID()) => ({
  entityId,
  blockchain,
  tokenId,
  address,
  intentId,
  purpose: 'amount' as const,
  amountAtomic,
})

const within = <Result>(work: (tx: Db) => Promise<Result>) => test.database.tx(work)
const balance = async (entityId: string) => {
  const rows = await balancesOf(test.database, entityId, blockchain, [address])
  return rows.map(({ postedAtomic, heldAtomic }) => [postedAtomic, heldAtomic])[0]
}

describe('postings', () => {
  it('property 3: the database refuses a posting whose entries do not sum to zero', async () => {
    const entityId = newId(nowMs)
    const lopsided = { ...received(entityId, 5n), entries: received(entityId, 5n).entries.slice(0, 1) }
    await expect(within((tx) => post(tx, nowMs, [lopsided]))).rejects.toThrow(/do not sum to zero/)
    expect(await balance(entityId)).toBeUndefined()
  })

  it('the database refuses a posting whose entries sum to zero only over two tokens', async () => {
    const entityId = newId(nowMs)
    const [first, second] = received(entityId, 5n).entries
    const other: Entry = { kind: second!.kind, amountAtomic: -5n, tokenId: baseSepolia.tokens[1]!.id }
    const entries = [first!, other]
    const crossed = { ...received(entityId, 5n), entries }
    await expect(within((tx) => post(tx, nowMs, [crossed]))).rejects.toThrow(/do not sum to zero/)
  })

  it('a committed posting accepts no further entries, even balanced ones', async () => {
    const entityId = newId(nowMs)
    await within((tx) => post(tx, nowMs, [received(entityId, 5n)]))
    const other = received(entityId, 5n, '0x02', `0x${'cd'.repeat(20)}`)
    await within((tx) => post(tx, nowMs, [other]))
    const late =
      test.database.run(sql`insert into entries (entity_id, posting_id, account_id, create_date, amount)
      select p.entity_id, p.id, a.id, p.create_date, case when a.kind = 'address' then 7 else -7 end
      from postings p join accounts a on a.entity_id = p.entity_id
      where p.entity_id = ${entityId} and p.block_hash = '0x01' and a.kind = 'address'
        and not exists (select 1 from entries e where e.entity_id = p.entity_id and e.posting_id = p.id
          and e.account_id = a.id)`)
    await expect(late).rejects.toThrow(/written with their posting/)
  })

  it('entries of one account are merged, and a sum of zero is not written', async () => {
    const entityId = newId(nowMs)
    const { entries, ...fact } = received(entityId, 5n)
    await within((tx) => post(tx, nowMs, [{ ...fact, entries: [...entries, ...entries] }]))
    expect(await balance(entityId)).toEqual([10n, 0n])
    const none = entries.map((entry) => ({ ...entry, amountAtomic: 0n }))
    await within((tx) => post(tx, nowMs, [{ ...fact, fact: 'nothing', entries: none }]))
    expect(await test.database.all(sql`select 1 from postings where fact = 'nothing'`)).toEqual([])
  })

  it('a block is reversed once however often that is requested, and can be booked and reversed again', async () => {
    const entityId = newId(nowMs)
    const blockHash = `0x${randomUUID()}`
    const booked = received(entityId, 5n, blockHash)
    for (const round of [1, 2]) {
      await within((tx) => post(tx, nowMs, [booked]))
      expect(await balance(entityId), `round ${round}`).toEqual([5n, 0n])
      await within((tx) => reversePostings(tx, nowMs, blockchain, blockHash))
      await within((tx) => reversePostings(tx, nowMs, blockchain, blockHash))
      expect(await balance(entityId), `round ${round}`).toEqual([0n, 0n])
    }
  })

  it('entries store the largest amount of a chain', async () => {
    const entityId = newId(nowMs)
    const most = 2n ** 256n - 1n
    await within((tx) => post(tx, nowMs, [received(entityId, most)]))
    expect(await balance(entityId)).toEqual([most, 0n])
  })
})

describe('holds', () => {
  it('a hold above the balance is refused and leaves no row', async () => {
    const entityId = newId(nowMs)
    await within((tx) => post(tx, nowMs, [received(entityId, 10n)]))
    await within((tx) => placeHolds(tx, nowMs, [hold(entityId, 6n)]))
    const refused = within((tx) => placeHolds(tx, nowMs, [hold(entityId, 5n)]))
    await expect(refused).rejects.toBeInstanceOf(InsufficientFunds)
    expect(await balance(entityId)).toEqual([10n, 6n])
  })

  it('several holds are placed together or not at all', async () => {
    const entityId = newId(nowMs)
    await within((tx) => post(tx, nowMs, [received(entityId, 10n)]))
    const both = [hold(entityId, 6n), hold(entityId, 6n)]
    await expect(within((tx) => placeHolds(tx, nowMs, both))).rejects.toBeInstanceOf(InsufficientFunds)
    expect(await balance(entityId)).toEqual([10n, 0n])
  })

  it('regardless skips the balance check for that call only', async () => {
    const entityId = newId(nowMs)
    const work = within(async (tx) => {
      await placeHolds(tx, nowMs, [hold(entityId, 6n)], { regardless: true })
      await placeHolds(tx, nowMs, [hold(entityId, 1n)])
    })
    await expect(work).rejects.toBeInstanceOf(InsufficientFunds)
    await within((tx) => placeHolds(tx, nowMs, [hold(entityId, 6n)], { regardless: true }))
    expect(await balance(entityId)).toEqual([0n, 6n])
    const later = within((tx) => placeHolds(tx, nowMs, [hold(entityId, 1n)]))
    await expect(later).rejects.toBeInstanceOf(InsufficientFunds)
  })

  it('a hold is resolved once: a second resolution changes nothing, and the database refuses another row', async () => {
    const entityId = newId(nowMs)
    const intentId = randomUUID()
    await within((tx) => post(tx, nowMs, [received(entityId, 10n)]))
    await within((tx) => placeHolds(tx, nowMs, [hold(entityId, 6n, intentId)]))
    await within((tx) => resolveHolds(tx, nowMs, [{ entityId, intentId, outcome: 'voided' }]))
    await within((tx) => resolveHolds(tx, nowMs, [{ entityId, intentId, outcome: 'posted' }]))
    expect(await balance(entityId)).toEqual([10n, 0n])
    const again =
      test.database.run(sql`insert into hold_resolutions (entity_id, hold_id, outcome, create_date)
      select entity_id, id, 'posted', now() from holds where entity_id = ${entityId} returning hold_id`)
    await expect(again).rejects.toMatchObject({ code: '23505' })
    const outcomes = await test.database.all(
      sql`select outcome from hold_resolutions where entity_id = ${entityId}`,
    )
    expect(outcomes).toEqual([{ outcome: 'voided' }])
  })

  it('property 6: a hold that is posted and voided at the same moment is resolved once', async () => {
    const entityId = newId(nowMs)
    await within((tx) => post(tx, nowMs, [received(entityId, 1_000n)]))
    for (let round = 0; round < rounds; round++) {
      const intentId = randomUUID()
      await within((tx) => placeHolds(tx, nowMs, [hold(entityId, 6n, intentId)]))
      const both = (['posted', 'voided', 'posted', 'voided'] as const).map((outcome) =>
        within((tx) => resolveHolds(tx, nowMs, [{ entityId, intentId, outcome }])),
      )
      await Promise.allSettled(both)
      expect((await balance(entityId))?.[1]).toBe(0n)
    }
  })
})

it.each(['postings', 'entries', 'holds', 'hold_resolutions'])(
  '%s cannot be changed or deleted, even by the owner of the table',
  async (table) => {
    const owner = openAsOwner(test.connection)
    const refused = { code: '23001' }
    await expect(owner.script(`update ${table} set entity_id = entity_id`)).rejects.toMatchObject(refused)
    await expect(owner.script(`delete from ${table}`)).rejects.toMatchObject(refused)
    await owner.close()
  },
)

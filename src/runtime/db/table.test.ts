import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { openAsOwner, sql } from './db.ts'
import {
  bigint,
  boolean,
  integer,
  jsonb,
  nullable,
  numeric,
  type RowOf,
  table,
  text,
  textOf,
  texts,
  timestamptz,
  uuid,
} from './table.ts'

let test: TestDatabase
let owner: ReturnType<typeof openAsOwner>
beforeAll(async () => {
  test = await openTestDatabase()
  owner = openAsOwner(test.connection)
  await owner.script(`create table parcels (entity_id uuid not null, position integer not null, block_number bigint not null,
    amount numeric(78, 0) not null, is_sent boolean not null, kind text not null, to_address text, tags text[] not null,
    last_words jsonb, create_date timestamptz(3) not null, weight integer not null default 7,
    primary key (entity_id, position))`)
})
beforeEach(() => owner.script('truncate parcels'))
afterAll(async () => {
  await owner.close()
  await test.close()
})

const parcels = table('parcels', {
  entityId: uuid,
  position: integer,
  blockNumber: bigint,
  amount: numeric,
  isSent: boolean,
  kind: textOf<'large' | 'small'>(),
  toAddress: nullable(text),
  tags: texts,
  lastWords: nullable(jsonb<{ saidBy: string; atHeight: bigint | string }[]>()),
  createDate: timestamptz,
})
type Parcel = RowOf<typeof parcels>

const entityId = '0190c7aa-0000-7000-8000-00000000000a'
const first: Parcel = {
  entityId,
  position: 1,
  blockNumber: 2 ** 40,
  amount: 2n ** 255n,
  isSent: true,
  kind: 'large',
  toAddress: `it's "0x", {a,b} \\ ☃`,
  tags: ['a', '', 'b,"c"'],
  lastWords: null,
  createDate: '2026-11-21T01:02:03.400Z',
}
const second: Parcel = {
  ...first,
  position: 2,
  amount: -1n,
  isSent: false,
  kind: 'small',
  toAddress: null,
  tags: [],
  lastWords: [{ saidBy: 'x_y', atHeight: '5' }],
}

const readAll = () => owner.all<Parcel>(sql`select ${parcels.columns()} from parcels order by position`)

describe('a declared table', () => {
  it('reads the rows that it inserts, with every type of a column', async () => {
    await owner.run(parcels.insert([first, second]))
    expect(await readAll()).toEqual([first, second])
  })

  it('keeps the names inside of JSON, and sends amounts in it as text', async () => {
    await owner.run(parcels.insert([{ ...second, lastWords: [{ saidBy: 'me', atHeight: 2n ** 70n }] }]))
    expect((await readAll())[0]!.lastWords).toEqual([{ saidBy: 'me', atHeight: String(2n ** 70n) }])
  })

  it('inserts nothing of no rows', async () => {
    expect(await owner.run(parcels.insert([]))).toBe(0)
  })

  it('leaves what an insert does not name at its default, and sends no other field', async () => {
    const longer = { ...first, weight: 9, unknown: { of: 'no column' } }
    await owner.run(parcels.insert([longer]))
    expect(await owner.one(sql`select weight from parcels`)).toEqual({ weight: 7 })
  })

  it('goes on with a conflict and returns its columns under an alias', async () => {
    await owner.run(parcels.insert([first]))
    const rows = await owner.all<Parcel>(sql`${parcels.insert([{ ...first, amount: 3n }, second], 'p')}
      on conflict (entity_id, position) do update set amount = p.amount - excluded.amount
      returning ${parcels.columns('p')}`)
    expect(rows).toEqual([{ ...first, amount: first.amount - 3n }, second])
  })

  it('joins rows that are sent as a table', async () => {
    await owner.run(parcels.insert([first, second]))
    const given = [{ entityId, position: 2, amount: 8n }]
    const changed = await owner.run(sql`update parcels p set amount = n.amount
      from ${parcels.only('entityId', 'position', 'amount').recordset(given, 'n')}
      where p.entity_id = n.entity_id and p.position = n.position`)
    expect(changed).toBe(1)
    expect((await readAll()).map(({ amount }) => amount)).toEqual([first.amount, 8n])
  })

  it('has parts, of which rows and columns are those of the part', async () => {
    const short = parcels.without('lastWords', 'tags', 'createDate')
    await owner.run(parcels.insert([first]))
    const { lastWords: _, tags: __, createDate: ___, ...rest } = first
    const [row] = await owner.all<RowOf<typeof short>>(sql`select ${short.columns('p')} from parcels p`)
    expect(row).toEqual(rest)
  })
})

it('names of columns become those of the program, whatever computes them, and other names stay', async () => {
  const row = await owner.one(sql`select 1 as tx_hash, 2 as "TX", count(*) as of_all, 3 as "already Named"`)
  expect(row).toEqual({ txHash: 1, TX: 2, ofAll: 1, 'already Named': 3 })
})

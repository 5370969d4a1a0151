import { describe, expect, it } from 'vitest'
import { kindOf } from './statement-kinds.ts'
import { readCoordinatorRelations, readTenantColumns } from './tenant-columns.ts'

const tables = { tenantColumns: readTenantColumns(), ofCoordinator: readCoordinatorRelations() }
const kind = (text: string) => kindOf(text, tables)

describe('property 283: a statement is of one tenant, of the chain, or reads across tenants without locks', () => {
  it.each([
    'select * from wallets where entity_id = $1 and id = $2 for update',
    'select * from wallets w join keys k on k.entity_id = w.entity_id and k.id = w.key_id where w.entity_id = $1',
    'select * from wallets w where w.entity_id = $1 and exists (select 1 from keys k where k.entity_id = w.entity_id)',
    'with recursive r as (select id from wallets where entity_id = $1 union all select w.id from wallets w join r using (id) where w.entity_id = $2) select * from r',
    'with due as (select id from attempts where entity_id = $1 for update skip locked) update attempts a set state = $2 from due where a.entity_id = $3 and a.id = due.id',
    'with a as (insert into events (entity_id, id) values ($1, $2)) insert into audit (entity_id, id) values ($3, $4)',
    'insert into wallets (entity_id, id) select $1::uuid, i from unnest($2::uuid[]) as n(i) on conflict do nothing',
    'delete from entities where id = $1',
    'select * from (select entity_id, id from wallets union all select entity_id, id from keys) x where entity_id = $1',
  ])('runs on the server of one tenant: %s', (text) => expect(kind(text)).toBe('tenant'))

  it.each([
    'select * from blocks where blockchain = $1 for update',
    'update chain_leases set holder = $1 where blockchain = $2',
    'select h.followed from message_heights h join blocks b using (blockchain)',
    'select 1',
  ])('has no table of tenants: %s', (text) => expect(kind(text)).toBe('chain'))

  it.each([
    'select distinct entity_id from (select entity_id from attempts where state = $1 order by entity_id limit $2) found',
    'select w.id from unnest($1::uuid[], $2::uuid[]) as n(e, i) join wallets w on w.entity_id = n.e and w.id = n.i',
    'insert into events (entity_id, id) select e, i from unnest($1::uuid[], $2::uuid[]) as n(e, i)',
    'update wallets w set state = n.s from unnest($1::uuid[], $2::uuid[], $3::text[]) as n(e, i, s) where w.entity_id = n.e and w.id = n.i',
    'select count(*) from wallets w where exists (select 1 from keys k where k.entity_id = w.entity_id and k.id = w.key_id)',
    'select * from keys where entity_id in ($1, $2)',
  ])('reads, or writes given rows, on all servers: %s', (text) => expect(kind(text)).toBe('across'))

  it.each([
    ['locks rows', 'select * from wallets where id = $1 for update'],
    [
      'locks rows',
      'select w.id from unnest($1::uuid[], $2::uuid[]) as n(e, i) join wallets w on w.entity_id = n.e and w.id = n.i for update of w',
    ],
    [
      'locks rows',
      'with due as (select entity_id, id from attempts where state = $1 for update skip locked) update attempts a set state = $2 from due where a.entity_id = due.entity_id and a.id = due.id',
    ],
    [
      'recurses',
      'with recursive turn as (select min(entity_id::text) as e from attempts union all select (select min(entity_id::text) from attempts where entity_id::text > turn.e) from turn) select * from turn',
    ],
    [
      'writes rows',
      'with gone as (delete from events where create_date < $1 returning entity_id, id) insert into audit (entity_id, id) select * from gone',
    ],
    [
      'looks up rows',
      'select * from unnest($1::uuid[]) as n(e) cross join lateral (select * from wallets w where w.entity_id = n.e order by id limit 1) first',
    ],
    [
      'looks up rows',
      'insert into events (entity_id, id) select n.e, n.i from unnest($1::uuid[], $2::uuid[]) as n(e, i) where not exists (select 1 from events o where o.entity_id = n.e and o.id = n.i)',
    ],
    ['joins tables', 'select * from wallets w join keys k on k.id = w.key_id'],
    ['joins tables', 'select * from wallets w, keys k where w.entity_id = $1 and k.id = w.key_id'],
    ['joins tables', 'update transactions t set state = $1 from wallets w where w.id = t.wallet_id'],
    [
      'calls a function of time',
      'insert into wallets (entity_id, id) values ($1, $2) on conflict (entity_id, id) do update set update_date = now()',
    ],
    [
      'reads step_cursors, which the coordinator alone has',
      'select t.id from transactions t join step_cursors c on c.blockchain = t.blockchain where t.entity_id = $1',
    ],
    [
      'reads unfollowed_transfers, which the coordinator alone has',
      'select amount from unfollowed_transfers where entity_id = $1',
    ],
    ['changes rows by a function', 'update wallets set id = gen_random_uuid() where entity_id = $1'],
  ])('is refused, since it %s: %s', (reason, text) =>
    expect(kind(text)).toEqual({ refused: expect.stringContaining(reason) }),
  )

  it('is understood whatever binds what: a limit and a CTE are made before what is joined with them', () => {
    const joined = (limit: string) =>
      `select w.id from (select entity_id, id from keys where entity_id = $1 ${limit}) k join wallets w on w.entity_id = k.entity_id`
    expect([kind(joined('')), kind(joined('limit $2'))]).toEqual(['tenant', 'across'])
  })
})

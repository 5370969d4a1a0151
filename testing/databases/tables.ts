import { type Connection, type Database, openAsOwner, openDatabase, raw, sql } from '#runtime/db/db'
import { tableKind } from '#runtime/db/distribute'
import { onEachNode, onTable } from './nodes.ts'
import { isOneServer } from './one-server.ts'

/**
 * Tables that a refused request may write: a ciphertext counts as used, and an entry as made, after a refusal too. The
 * balances of a wallet are compared with its chain before the page that is asked of them is found not to exist.
 */
const writtenWhenRefused = new Set(['spent_ciphertexts', 'login_codes', 'login_limits', 'token_checks'])

/** Changes that count, of tables of which others do not: each use of a key is noted in its row. */
const ofColumns: Readonly<Record<string, string>> = {
  api_keys: 'of scopes, expire_date, allowed_addresses, revoked_date',
}

/** Records every committed write to every table. Only meaningful while no engine runs. */
export type WriteWatch = {
  /** Marks a point in time: rows committed later come after it. */
  mark(): Promise<string>
  /** Number of rows written since `mark`, by operation and table, such as `insert wallets`; empty without writes. */
  since(mark: string): Promise<Record<string, number>>
  close(): Promise<void>
}

/**
 * Puts a trigger on every table that notes each row written, in the transaction that writes it. Asking costs a fraction of a
 * millisecond, where comparing the contents of all tables costs twenty.
 */
export async function watchWrites(connection: Connection): Promise<WriteWatch> {
  const owner = openAsOwner(connection)
  const tables = (await tableNames(owner)).filter((name) => !writtenWhenRefused.has(name))
  await onEachNode(
    owner,
    `create table written_rows (at timestamptz not null default clock_timestamp(), what text not null);
    create index on written_rows (at);
    grant select on written_rows to bezant_runtime;
    create function note_write() returns trigger language plpgsql security definer as $note$
      begin
        insert into written_rows (what) values (lower(tg_op) || ' ' || regexp_replace(tg_table_name, '_[0-9]{6,}$', ''));
        return null;
      end $note$;`,
  )
  // Table by table: with locks on several, this and work under way could wait for each other.
  for (const name of tables) {
    await onTable(
      owner,
      name,
      'create trigger note_write after insert or delete on %s for each row execute function note_write()',
    )
    await onTable(
      owner,
      name,
      `create trigger note_update after update ${ofColumns[name] ?? ''} on %s for each row
        when (old.* is distinct from new.*) execute function note_write()`,
    )
  }
  await owner.close()
  const reader = openDatabase(connection, 1)
  return {
    mark: async () => (await reader.one<{ at: string }>(sql`select clock_timestamp()::text as at`)).at,
    since: async (mark) => {
      const rows = await notedSince(reader, mark)
      return Object.fromEntries(rows.map(({ what, count }) => [what, count]))
    },
    close: () => reader.close(),
  }
}

const countedSince = (mark: string) =>
  `select what, count(*)::integer as count from written_rows where at > '${mark}' group by what`

/** Rows noted on all nodes. */
async function notedSince(reader: Database, mark: string): Promise<{ what: string; count: number }[]> {
  const noted = `with noted as (${countedSince(mark)}) select coalesce(json_agg(noted), '[]') from noted`
  const found = isOneServer
    ? sql`${raw(noted)}`
    : sql`select result::json as coalesce from run_command_on_all_nodes(${noted})`
  const counts = new Map<string, number>()
  for (const { coalesce } of await reader.all<{ coalesce: { what: string; count: number }[] }>(found))
    for (const { what, count } of coalesce) {
      const before = counts.get(what) ?? 0
      counts.set(what, isOnEachNode(what) ? Math.max(before, count) : before + count)
    }
  return [...counts].sort().map(([what, count]) => ({ what, count }))
}

const isOnEachNode = (what: string) =>
  tableKind({ name: what.split(' ')[1]!, hasEntityId: false }) === 'shared'

/** Number of rows by which each table grew, of the writes of a `WriteWatch`. */
export function rowsAdded(writes: Record<string, number>): Record<string, number> {
  const added: Record<string, number> = {}
  for (const [what, count] of Object.entries(writes)) {
    const [operation, table] = what.split(' ') as [string, string]
    if (operation !== 'update') added[table] = (added[table] ?? 0) + (operation === 'insert' ? count : -count)
  }
  return Object.fromEntries(Object.entries(added).filter(([, rows]) => rows !== 0))
}

/** Every id that a tenant owns, and every address, by table: at most `each` of them. */
export async function ownedIds(database: Database, entityId: string, each = 5): Promise<string[]> {
  const columns = await database.all<{ table: string; column: string }>(sql`
    select c.table_name as table, c.column_name as column from information_schema.columns c
    join information_schema.columns e on e.table_schema = 'public' and e.table_name = c.table_name
      and e.column_name = 'entity_id'
    where c.table_schema = 'public' and c.data_type = 'uuid' and c.column_name in ('id', 'owner_id', 'batch_id')
    order by 1, 2`)
  const found = new Set<string>([entityId])
  for (const { table, column } of columns) {
    const rows = await database.all<{ id: string }>(
      sql`select distinct ${raw(`"${column}"`)} as id from ${raw(`"${table}"`)} where entity_id = ${entityId} limit ${each}`,
    )
    for (const { id } of rows) if (id) found.add(id)
  }
  return [...found]
}

async function tableNames(database: Database): Promise<string[]> {
  const rows = await database.all<{
    name: string
  }>(sql`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`)
  return rows.map(({ name }) => name)
}

import { type Database, raw, sql } from '#runtime/db/db'

type Column = {
  table: string
  name: string
  type: string
  nullable: boolean
  /** The texts that a constraint allows. */
  choices: string[] | null
  /** Whether most rows have true, since that is the default, or since an index is for the others. */
  isMostlyTrue: boolean
}

/** Number of tenants that the rows belong to. */
const tenants = 1_000

/** Tables of the platform with a row for each key, list, process or chain, or of a sandbox: they do not grow with tenants. */
const ofPlatform = [
  'schema_migrations',
  'notified_kinds',
  'transport_keys',
  'root_keys',
  'root_key_holders',
  'user_token_keys',
  'webhook_keys',
  'signing_certificates',
  'attestation_keys',
  'journals',
  'screening_lists',
  'sponsors',
  'step_cursors',
  'faucet_transactions',
]

/**
 * Fills every table with `count` rows of other tenants, or of this one, of the same chains, and brings the statistics up to date.
 * The rows meet no check and no key to another table: only plans are asked of such a database.
 */
export async function fillTables(
  owner: Database,
  blockchains: readonly string[],
  count: number,
  entityId?: string,
): Promise<string[]> {
  const columns = await columnsOf(owner)
  const tables = [...new Set(columns.map(({ table }) => table))]
  for (const { table, name } of await owner.all<{ table: string; name: string }>(sql`select
      c.conrelid::regclass::text as "table", c.conname as name from pg_constraint c
      where c.contype in ('c', 'f') and c.connamespace = 'public'::regnamespace`))
    await owner.run(raw(`alter table ${table} drop constraint if exists "${name}" cascade`))
  for (const table of tables)
    await owner.tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`)
      const own = columns.filter((column) => column.table === table)
      const names = own.map(({ name }) => `"${name}"`).join(', ')
      const values = own.map((column) => expressionOf(column, blockchains, entityId)).join(', ')
      await tx.run(
        raw(`insert into ${table} (${names}) overriding system value select ${values}
          from generate_series(1, ${count}) n on conflict do nothing`),
      )
    })
  await owner.run(raw('analyze'))
  return tables
}

const columnsOf = (owner: Database) =>
  owner.all<Column>(sql`select c.relname as "table", a.attname as name, format_type(a.atttypid, null) as type,
      not a.attnotnull as nullable, (select array_agg(m[1]) from pg_constraint k,
        regexp_matches(pg_get_constraintdef(k.oid), '''(\w[\w -]*)''::text', 'g') m
        where k.contype = 'c' and k.conrelid = c.oid and k.conkey = array[a.attnum]) as choices,
      coalesce((select pg_get_expr(d.adbin, d.adrelid) = 'true' from pg_attrdef d
          where d.adrelid = c.oid and d.adnum = a.attnum), false)
        or exists (select 1 from pg_index i where i.indrelid = c.oid
          and pg_get_expr(i.indpred, i.indrelid) ~ ('NOT ' || a.attname || '\\M')) as is_mostly_true
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relname::text = any(${ofPlatform}::text[])
      and a.attgenerated = '' order by c.relname, a.attnum`)

/** Whether row `n` is one of the few in another state than most. */
const isRare = '(n / 3) % 50 = 0'

/** An expression for the value of a column in row `n`. */
function expressionOf(column: Column, blockchains: readonly string[], entityId: string | undefined): string {
  const { name, type, nullable } = column
  if (entityId !== undefined && name === 'entity_id') return `'${entityId}'::uuid`
  const value = definite(column, blockchains)
  // The lists of a tenant show rows that have a wallet, a user, a hash; dates that are optional end them.
  const isUsual = entityId !== undefined && ['uuid', 'text', 'numeric'].includes(type)
  // Optional values, and those that mark rows for work, are rare, as in the tables of a server that keeps up.
  return nullable && !isUsual ? `case when ${isRare} then ${value} end` : value
}

/** The states in which most rows end. */
const usualEnds = ['COMPLETE', 'complete', 'paid', 'delivered', 'finalized', 'APPROVED', 'approved']

function definite({ name, type, choices, isMostlyTrue }: Column, blockchains: readonly string[]): string {
  const among = (texts: readonly string[]) =>
    `(array['${texts.join(`', '`)}'])[1 + (n / 7) % ${texts.length}]`
  if (name === 'entity_id') return `md5((n % ${tenants})::text)::uuid`
  if (name === 'blockchain') return among(blockchains)
  if (type === 'text' && choices)
    return `case when ${isRare} then ${among(choices)} else '${usualEnds.find((end) => choices.includes(end)) ?? choices.at(-1)}' end`
  if (type === 'text') return `md5(n::text || '${name}')`
  // A row refers to the rows of the same number in other tables.
  if (type === 'uuid') return `md5(n::text || '${name.endsWith('_id') ? 'id' : name}')::uuid`
  if (type === 'boolean') return isMostlyTrue ? `not (${isRare})` : isRare
  if (type === 'date') return 'current_date - n / 100'
  if (type.startsWith('timestamp')) return `now() + (n % 2 * 2 - 1) * n * interval '1 second'`
  if (type === 'json' || type === 'jsonb') return `'{}'::${type}`
  if (type === 'bytea') return `decode(md5(n::text || '${name}'), 'hex')`
  if (type.endsWith('[]')) return `'{}'::${type}`
  if (type === 'xid8') return `n::text::xid8`
  return `(n % 30000)::${type}`
}

import { type Database, sql } from '#runtime/db/db'
import type { Figure } from '../figures.ts'
import type { Run } from '../run.ts'

type Size = { table: string; rows: number; rowBytes: number; indexBytes: number }
type IndexSize = { table: string; index: string; bytes: number; scans: number }

const megabyte = 2 ** 20

/** The indexes of each table beside its rows; reports each index with its bytes for a row, and those that nothing has scanned. */
export async function measureSizes(
  run: Run,
  database: Database,
  tables: readonly string[],
): Promise<Figure[]> {
  const sizes = await database.all<Size>(sql`select c.relname::text as "table", c.reltuples::int8 as rows,
      pg_table_size(c.oid) as row_bytes, pg_indexes_size(c.oid) as index_bytes
    from pg_class c where c.oid = any(${tables}::regclass[]) order by pg_total_relation_size(c.oid) desc`)
  const indexes =
    await database.all<IndexSize>(sql`select relname::text as "table", indexrelname::text as index,
      pg_relation_size(indexrelid) as bytes, idx_scan as scans
    from pg_stat_user_indexes where relid = any(${tables}::regclass[]) order by pg_relation_size(indexrelid) desc`)
  for (const { table, index, bytes, scans } of indexes.filter((each) => each.bytes > megabyte)) {
    const rows = sizes.find((size) => size.table === table)!.rows
    run.report(
      `${table}, ${index}: ${(bytes / megabyte).toFixed(0)} MB, ${(bytes / rows).toFixed(0)} bytes a row, ${scans} scans`,
    )
  }
  return sizes.map(({ table, rows, rowBytes, indexBytes }) => ({
    name: `${table}: bytes of indexes for one of ${rows.toLocaleString('en')} rows`,
    measured: { value: rows && indexBytes / rows, unit: 'bytes' },
    reference: { value: rows && rowBytes / rows, unit: 'bytes', what: 'of the row' },
    ratio: rowBytes && indexBytes / rowBytes,
    coresBusy: 0,
  }))
}

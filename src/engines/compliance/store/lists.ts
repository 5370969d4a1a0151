import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, sql } from '#runtime/db/db'
import type { ListKind } from '../types.ts'

type ScreeningList = { name: string; kind: ListKind; version: number }

/** `chain`: by the issuer of a stablecoin. */
export type ListChange = 'import' | 'add' | 'remove' | 'rollback' | 'chain'

export type ListVersion = {
  list: string
  version: number
  change: ListChange
  contentsOf: number
  entries: number
  added: number
  removed: number
  source: string | null
  sourceHash: string | null
  reason: string | null
  actor: string
  createDate: string
}

const lock = sql`hashtextextended('screening-lists', 0)`

/** Waits until no `tx` relies on the present lists, and keeps others from it until this one ends. */
export const lockLists = (tx: Db) => tx.run(sql`select pg_advisory_xact_lock(${lock})`)

/** Keeps the lists as they are until this `tx` ends: no change of them commits before. */
export const shareLists = (tx: Db) => tx.run(sql`select pg_advisory_xact_lock_shared(${lock})`)

/** A number that every change of any list raises. */
export async function listsRevision(db: Db): Promise<number> {
  const { revision } = await db.one<{ revision: number }>(
    sql`select coalesce(sum(version), 0)::bigint as revision from screening_lists`,
  )
  return Number(revision)
}

const columns = sql`v.list, v.version, v.change, v.contents_of, v.entries_count as entries, v.added_count as added,
  v.removed_count as removed, v.source, v.source_hash, v.reason, v.actor, v.create_date`

export const findList = (db: Db, name: string) =>
  db.maybe<ScreeningList>(sql`select name, kind, version from screening_lists where name = ${name}`)

/** Every list with its present version, by name. */
export const presentLists = (db: Db) =>
  db.all<ListVersion & { kind: ListKind }>(sql`select l.kind, ${columns} from screening_lists l
    join screening_versions v on v.list = l.name and v.version = l.version order by l.name`)

export async function presentVersions(db: Db): Promise<Record<string, number>> {
  const { versions } = await db.one<{ versions: Record<string, number> }>(
    sql`select coalesce(jsonb_object_agg(name, version), '{}') as versions from screening_lists`,
  )
  return versions
}

export const listHistory = (db: Db, list: string, limit: number) =>
  db.all<ListVersion>(sql`select ${columns} from screening_versions v where v.list = ${list}
    order by v.version desc limit ${limit}`)

/** The versions of a list, newest first. */
export const listVersionsPage = (db: Db, list: string, page: PageQuery) =>
  readPage<ListVersion & { id: string }>(
    db,
    {
      columns: sql`v.id, ${columns}`,
      from: raw('screening_versions v'),
      alias: 'v',
      scope: sql`v.list = ${list}`,
      filters: [],
    },
    page,
  )

export const findVersion = (db: Db, list: string, version: number) =>
  db.maybe<ListVersion>(
    sql`select ${columns} from screening_versions v where v.list = ${list} and v.version = ${version}`,
  )

export const putList = (tx: Db, { name, kind, version }: ScreeningList) =>
  tx.run(sql`insert into screening_lists (name, kind, version) values (${name}, ${kind}, ${version})
    on conflict (name) do update set version = excluded.version`)

export const insertListVersion = (tx: Db, nowMs: number, made: Omit<ListVersion, 'createDate'>) =>
  tx.one<ListVersion>(sql`insert into screening_versions as v (id, list, version, change, contents_of, entries_count,
      added_count, removed_count, source, source_hash, reason, actor, create_date)
    values (${newId(nowMs)}, ${made.list}, ${made.version}, ${made.change}, ${made.contentsOf}, ${made.entries}, ${made.added},
      ${made.removed}, ${made.source}, ${made.sourceHash}, ${made.reason}, ${made.actor}, ${formatInstant(nowMs)})
    returning ${columns}`)

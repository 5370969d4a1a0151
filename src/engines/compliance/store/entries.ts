import type { ScreenedAddress } from '#chains/screening-chains'
import { type Db, type Sql, sql } from '#runtime/db/db'
import type { ListKind } from '../types.ts'

export type ListedAddress = {
  /** The position among the addresses that were looked up. */
  index: number
  list: string
  kind: ListKind
  fromVersion: number
  reference: string | null
}

const spacesOf = (addresses: readonly ScreenedAddress[]) => addresses.map(({ space }) => space)
const textsOf = (addresses: readonly ScreenedAddress[]) => addresses.map(({ address }) => address)

/** The entries of the present lists that name one of these addresses: one lookup in an index for each address. */
export const findListed = (db: Db, addresses: readonly ScreenedAddress[]) =>
  db.all<ListedAddress>(sql`select (given.position - 1)::integer as index, e.list, l.kind,
      e.from_version, e.reference
    from unnest(${spacesOf(addresses)}::text[], ${textsOf(addresses)}::text[]) with ordinality
      as given(space, address, position)
    join screening_entries e on e.address = given.address and e.space = given.space and e.to_version is null
    join screening_lists l on l.name = e.list
    order by e.list`)

export type NewEntry = ScreenedAddress & { reference: string | undefined }

/** A table of this `tx` for the entries of a file, so that no other session waits while the file is read. */
export const openStaging = (tx: Db) =>
  tx.script(`create temporary table staged_entries (
    address text not null, space text not null, reference text, primary key (address, space)) on commit drop`)

/** Returns the number of entries that were not staged before. */
export const stageEntries = (tx: Db, entries: readonly NewEntry[]) =>
  tx.run(sql`insert into staged_entries (address, space, reference)
    select * from unnest(${textsOf(entries)}::text[], ${spacesOf(entries)}::text[],
      ${entries.map(({ reference }) => reference ?? null)}::text[])
    on conflict do nothing`)

const endedAtOnce = 50_000

/** Ends the present entries of the list that are not staged. Returns their number. */
export async function endUnstaged(tx: Db, list: string, version: number): Promise<number> {
  for (let ended = 0; ; ) {
    // A distributed server joins no temporary table in a statement that changes rows.
    const unstaged = await tx.all<ScreenedAddress>(sql`select e.address, e.space from screening_entries e
      where e.list = ${list} and e.to_version is null and not exists (
        select from staged_entries n where n.address = e.address and n.space = e.space) limit ${endedAtOnce}`)
    ended += await endEntries(tx, list, version, unstaged)
    if (unstaged.length < endedAtOnce) return ended
  }
}

/** Adds the staged entries that are not present in the list. Returns their number. */
export const addStaged = (tx: Db, list: string, version: number) =>
  tx.run(sql`insert into screening_entries (address, space, list, from_version, reference)
    select n.address, n.space, ${list}, ${version}::integer, n.reference from staged_entries n
    where not exists (select from screening_entries e
      where e.list = ${list} and e.address = n.address and e.space = n.space and e.to_version is null)`)

/** Stages the entries of a former version. */
export const stageVersion = (tx: Db, list: string, version: number) =>
  tx.run(sql`insert into staged_entries (address, space, reference)
    select e.address, e.space, e.reference from screening_entries e where ${inVersion(list, version)}`)

/** The addresses of these that the list names at present. */
export async function presentAmong(
  db: Db,
  list: string,
  addresses: readonly ScreenedAddress[],
): Promise<string[]> {
  const rows = await db.all<{ address: string }>(sql`select e.address
    from unnest(${textsOf(addresses)}::text[], ${spacesOf(addresses)}::text[]) as n(a, s)
    join screening_entries e on e.list = ${list} and e.address = n.a and e.space = n.s and e.to_version is null`)
  return rows.map(({ address }) => address)
}

/** Adds entries that the list does not have. */
export const addEntries = (tx: Db, list: string, version: number, entries: readonly NewEntry[]) =>
  tx.run(sql`insert into screening_entries (address, space, list, from_version, reference)
    select a, s, ${list}, ${version}::integer, r from unnest(${textsOf(entries)}::text[], ${spacesOf(entries)}::text[],
      ${entries.map(({ reference }) => reference ?? null)}::text[]) as n(a, s, r)`)

/** Ends present entries of the list. Returns their number. */
export const endEntries = (tx: Db, list: string, version: number, addresses: readonly ScreenedAddress[]) =>
  tx.run(sql`update screening_entries e set to_version = ${version}
    from unnest(${textsOf(addresses)}::text[], ${spacesOf(addresses)}::text[]) as n(a, s)
    where e.list = ${list} and e.address = n.a and e.space = n.s and e.to_version is null`)

const inVersion = (list: string, version: number): Sql =>
  sql`e.list = ${list} and e.from_version <= ${version} and (e.to_version is null or e.to_version > ${version})`

/** A staged address that a present list of that kind names, if there is one. */
export const findStagedIn = (tx: Db, kind: ListKind) =>
  tx.maybe<{ address: string; list: string }>(sql`select e.address, e.list from screening_lists l
    join screening_entries e on e.list = l.name and e.to_version is null
    join staged_entries n on n.address = e.address and n.space = e.space
    where l.kind = ${kind} limit 1`)

import { type Db, sql } from '#runtime/db/db'

/** A version of the root key; the key itself is not stored, or wrapped. Dates are null until the version gets there. */
export type RootKeyRow = {
  version: number
  checkValue: Buffer
  /** The keys that are derived from it, sealed under the newest version; null of that one. */
  sealedKeys: Buffer | null
  /** The root key, encrypted by a service outside of the program; null of one that processes are given, and of a retired one. */
  wrappedKey: Buffer | null
  /** The name of the key of that service. */
  wrappedBy: string | null
  createDate: string
  activeDate: string | null
  closedDate: string | null
  retiredDate: string | null
}

/** A root key of 32 bytes with this check value, encrypted by the named key of a service. */
export type WrappedKey = { checkValue: Buffer; wrappedKey: Buffer; wrappedBy: string }

/** All versions, oldest first. */
export const rootKeyRows = (db: Db) =>
  db.all<RootKeyRow>(sql`select version, check_value, sealed_keys, wrapped_key, wrapped_by, create_date,
      active_date, closed_date, retired_date from root_keys order by version`)

/** Lets one at a time change the versions, until the `tx` ends. Processes go on reading them. */
export const lockRootKeys = (tx: Db) => tx.run(sql`lock table root_keys in share row exclusive mode`)

export const insertRootKey = (
  tx: Db,
  row: Pick<RootKeyRow, 'version' | 'checkValue' | 'createDate' | 'activeDate'> & Partial<WrappedKey>,
) =>
  tx.run(sql`insert into root_keys (version, check_value, wrapped_key, wrapped_by, create_date, active_date)
    values (${row.version}, ${row.checkValue}, ${row.wrappedKey ?? null}, ${row.wrappedBy ?? null}, ${row.createDate},
      ${row.activeDate})`)

/** Replaces a wrapped key by the same one, wrapped anew; returns 0 if it is not as it was `before`. */
export const replaceWrappedKey = (
  tx: Db,
  version: number,
  { wrappedKey, wrappedBy, before }: Omit<WrappedKey, 'checkValue'> & { before: Buffer },
): Promise<number> =>
  tx.run(sql`update root_keys set wrapped_key = ${wrappedKey}, wrapped_by = ${wrappedBy}
    where version = ${version} and wrapped_key = ${before}`)

/** Lets a version seal new values from now on. */
export const activateRootKey = (tx: Db, version: number, atDate: string) =>
  tx.run(sql`update root_keys set active_date = ${atDate} where version = ${version} and active_date is null`)

export const keepRootKey = (tx: Db, version: number, sealedKeys: Buffer) =>
  tx.run(sql`update root_keys set sealed_keys = ${sealedKeys} where version = ${version}`)

/**
 * Closes all versions before this one, once no open `tx` has stored a value that is sealed with them: storing one reads the table, and
 * its lock lasts until the `tx` ends. On a distributed server the lock is one on every node.
 */
export async function closeRootKeysBefore(tx: Db, version: number, atDate: string): Promise<number> {
  await tx.run(sql`lock table root_keys in access exclusive mode`)
  return tx.run(sql`update root_keys set closed_date = ${atDate} where version < ${version} and active_date is not null
    and closed_date is null`)
}

/** Retires the closed versions before this one, removes their wrapped keys, and returns them. */
export const retireRootKeysBefore = async (tx: Db, version: number, atDate: string): Promise<number[]> =>
  (
    await tx.all<{
      version: number
    }>(sql`update root_keys set retired_date = ${atDate}, wrapped_key = null where version < ${version}
      and closed_date is not null and retired_date is null returning version`)
  ).map((row) => row.version)

/** A process, and the versions of the root key that it has. */
export type RootKeyHolder = { process: string; versions: number[]; sealingVersion: number }

/** Notes the versions that a process has. Those of processes that ended a minute ago are removed. */
export async function noteHolder(
  db: Db,
  { process, versions, sealingVersion }: RootKeyHolder,
): Promise<void> {
  await db.run(sql`insert into root_key_holders (process, versions, sealing_version, seen_date)
    values (${process}, ${versions}::integer[], ${sealingVersion}, clock_timestamp())
    on conflict (process) do update set versions = excluded.versions, sealing_version = excluded.sealing_version,
      seen_date = excluded.seen_date`)
  await db.run(sql`delete from root_key_holders where seen_date < now() - interval '1 minute'`)
}

/** The processes that were seen within so many milliseconds. */
export const holdersSince = (db: Db, ms: number) =>
  db.all<RootKeyHolder>(sql`select process, versions, sealing_version from root_key_holders
    where seen_date > now() - ${ms} * interval '1 millisecond' order by process`)

/** The processes whose connections were used within so many milliseconds, each as `host:process id`. */
export const sessionsSince = (db: Db, ms: number): Promise<string[]> =>
  db.tx(async (tx) => {
    // The server shows the names of sessions to sessions of the same user, which the program's role is not.
    await tx.script('set local role none')
    const found = await tx.all<{ process: string }>(sql`select distinct substr(application_name, 8) as process
      from pg_stat_activity where datname = current_database() and application_name like 'bezant %:%'
        and (state <> 'idle' or state_change > now() - ${ms} * interval '1 millisecond') order by process`)
    return found.map(({ process }) => process)
  })

/** Whether values with this head may still be stored. Until the `tx` ends, the answer does not change. */
export const holdRootKey = async (tx: Db, head: Buffer): Promise<boolean> =>
  (await tx.one<{ open: boolean }>(sql`select is_root_key_open(${head}) as open`)).open

/** Removes a process that ends. */
export const removeRootKeyHolder = (db: Db, process: string) =>
  db.run(sql`delete from root_key_holders where process = ${process}`)

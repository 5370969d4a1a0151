/**
 * The rights of `bezant_runtime`, as which the program runs. A role and its members belong to the server and not to the
 * database, so a copy that is restored on another server lacks them, and with them the grants on its tables.
 */
import { type Database, type Db, sql, sqlState } from './db.ts'

type Rights = {
  user: string
  /** Whether the user owns the tables, or there are none. */
  isOwner: boolean
  roleExists: boolean
  /** Whether the user may run as the role. */
  isMember: boolean
  /** Whether the role has its grants on the tables; true where there are none. */
  hasGrants: boolean
}

/** Reads the rights of the user. Before PostgreSQL 16 every member of a role may set it. */
const readRights = (db: Db) =>
  db.one<Rights>(sql`select current_user::text as "user", r.oid is not null as role_exists,
      coalesce(pg_has_role(current_user, r.oid,
        case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end), false) as is_member,
      coalesce(pg_has_role(current_user, m.relowner, 'USAGE'), true) as is_owner,
      e.oid is null or coalesce(has_table_privilege(r.oid, e.oid, 'SELECT'), false) as has_grants
    from (select 1) one left join pg_roles r on r.rolname = 'bezant_runtime'
      left join pg_class m on m.oid = to_regclass('schema_migrations')
      left join pg_class e on e.oid = to_regclass('entities')`)

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Names the statements that an administrator of the server has to run. */
function missing({ user, roleExists, isOwner }: Rights): Error {
  const statements = [
    ...(roleExists ? [] : ['create role bezant_runtime nologin']),
    `grant bezant_runtime to ${quoted(user)}`,
  ]
  const next = isOwner ? ', and "bezant migrate" again' : ''
  return new Error(
    `the database user ${user} may not run as the role bezant_runtime${roleExists ? '' : ', which this server does not have'}: as an administrator of the server, run "${statements.join('; ')}"${next}`,
  )
}

/** Throws for a user who neither owns the tables nor may run as the role, and so cannot read anything. */
export async function refuseStranger(db: Db): Promise<void> {
  const rights = await readRights(db)
  if (!rights.isOwner && !rights.isMember) throw missing(rights)
}

/** Throws unless the user may run as the role, and the role has its grants. */
export async function requireRights(db: Db): Promise<void> {
  const rights = await readRights(db)
  if (!rights.isMember) throw missing(rights)
  if (!rights.hasGrants)
    throw new Error(
      'the role bezant_runtime has no rights on the tables, because they were restored before it existed: run "bezant migrate" as the user who owns the tables',
    )
}

/** Creates the role and makes the owner of the tables a member, where it may. Returns what it did. */
export async function repairRole(database: Database): Promise<string[]> {
  const rights = await readRights(database)
  if (!rights.isOwner || rights.isMember) return []
  const { user, roleExists } = rights
  const done: string[] = []
  try {
    if (!roleExists) {
      await database.script(`do $$ begin create role bezant_runtime nologin;
        exception when duplicate_object or unique_violation then null; end $$`)
      done.push('created the role bezant_runtime')
    }
    await database.script(`grant bezant_runtime to ${quoted(user)}`)
  } catch (error) {
    throw sqlState(error) === insufficientPrivilege ? missing(rights) : error
  }
  return [...done, `granted bezant_runtime to ${user}`]
}

const insufficientPrivilege = '42501'

/**
 * The statements of a migration about the rights of the role. Those on columns are left out: no right on columns is left at the end,
 * and a distributed server knows none.
 */
const rightsIn = (text: string): string[] =>
  [...text.matchAll(/^(?:grant|revoke|alter default privileges)\b[^;]*\bbezant_runtime;/gim)]
    .map(([statement]) => statement)
    .filter((statement) => !/^\w+ \w+ \(/.test(statement))

/** Repeats what the applied migrations grant and revoke, where a restore lost it. Returns what it did. */
export async function repairGrants(database: Database, migrations: readonly string[]): Promise<string[]> {
  const { isOwner, hasGrants } = await readRights(database)
  if (!isOwner || hasGrants) return []
  await database.tx(async (tx) => {
    await tx.run(sql`set local search_path = public`)
    for (const statement of migrations.flatMap(rightsIn)) await tx.script(statement)
  })
  return ['granted the rights on the tables to bezant_runtime again']
}

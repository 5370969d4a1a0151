/**
 * Spreads the tables over the nodes of a PostgreSQL with the extension Citus: the rows of a tenant lie together on one node, each
 * node has all rows of shared tables, and the coordinator keeps the rest. The program talks to the coordinator alone, with the
 * statements that it sends to any other server.
 */
import { type Connection, type Database, type Db, openAsOwner, raw, type Sql, sql } from './db.ts'
import { distributedForms } from './migrate.ts'

/** `tenants`: distributed by the column that names the tenant. `shared`: a copy on each node. `local`: on the coordinator alone. */
type TableKind = 'tenants' | 'shared' | 'local'

type FoundTable = {
  name: string
  hasEntityId: boolean
  isDistributed: boolean
  /** Other tables that its foreign keys lead to. */
  references: string[]
}

/**
 * Tables that statements and triggers read beside the rows of tenants. Each node writes them, and a change locks the whole table, so
 * nothing else is shared.
 */
const sharedTables: ReadonlySet<string> = new Set([
  'blocks',
  'chain_halts',
  'closed_days',
  'members',
  'notified_kinds',
  'root_keys',
  'screening_entries',
  'screening_lists',
  'tokens',
])

/** The kind of a table: rows of tenants have their `entity_id`, except for the tenants themselves. */
export function tableKind({ name, hasEntityId }: Pick<FoundTable, 'name' | 'hasEntityId'>): TableKind {
  if (hasEntityId || name === 'entities') return 'tenants'
  return sharedTables.has(name) ? 'shared' : 'local'
}

/** Whether the server has Citus in this database. */
const hasCitus = async (db: Db): Promise<boolean> =>
  (await db.maybe(sql`select 1 from pg_extension where extname = 'citus'`)) !== undefined

const findTables = (db: Db, isCitus: boolean) =>
  db.all<FoundTable>(sql`select c.relname as name,
      exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'entity_id' and not a.attisdropped)
        as has_entity_id,
      ${isCitus ? sql`exists (select 1 from pg_dist_partition d where d.logicalrelid = c.oid)` : sql`false`} as is_distributed,
      array(select distinct f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as "references"
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by c.relname`)

/** The tables that are on the coordinator alone, although their kind says otherwise, in the order in which they can move. */
async function undistributedTables(db: Db): Promise<FoundTable[]> {
  const tables = await findTables(db, true)
  return inOrder(tables.filter((table) => !table.isDistributed && tableKind(table) !== 'local'))
}

/** The names of tables that are not distributed; empty on a server on which none is, or that has no such extension. */
export async function forgottenTables(db: Db): Promise<string[]> {
  if (!(await hasCitus(db))) return []
  const tables = await findTables(db, true)
  if (!tables.some(({ isDistributed }) => isDistributed)) return []
  return tables
    .filter((table) => !table.isDistributed && tableKind(table) !== 'local')
    .map(({ name }) => name)
}

/** Shared tables before those of tenants, which may refer to them, and each table after those that it refers to. */
function inOrder(tables: readonly FoundTable[]): FoundTable[] {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const ordered = new Set<FoundTable>()
  const visit = (table: FoundTable) => {
    for (const name of table.references) {
      const other = byName.get(name)
      if (other && !ordered.has(other)) visit(other)
    }
    ordered.add(table)
  }
  const rank = (table: FoundTable) => (table.name === 'entities' ? 0 : tableKind(table) === 'shared' ? 1 : 2)
  for (const table of tables.toSorted((one, other) => rank(one) - rank(other))) visit(table)
  return [...ordered]
}

type Said = (what: string) => void

/** Settings of every session in the database, on each node. */
const sessionSettings = {
  // Triggers run beside the rows of a shard, and write rows of the same tenant alone.
  'citus.enable_unsafe_triggers': 'on',
  // What a `tx` sets for itself holds on the nodes, too, such as its limits of time.
  'citus.propagate_set_commands': 'local',
  // A `tx` that changes rows on several nodes may change shared tables, too.
  'citus.multi_shard_modify_mode': 'sequential',
  // A statement that changes given rows of several tenants locks these rows, and not the tables of all tenants until its `tx` ends.
  'citus.enable_deadlock_prevention': 'off',
} as const

/**
 * Distributes each table that is not, and sets roles, grants and settings on all nodes; returns the names of the tables. Safe to
 * repeat: after migrations that made tables, after shards were moved, and after it was interrupted. Throws with what an
 * administrator has to do first.
 */
export async function distributeTables(connection: Connection, say: Said): Promise<string[]> {
  const before = openAsOwner(connection)
  try {
    await requireCluster(before)
    await setSettings(before)
    await setRole(before)
    await requireLogin(before)
    const waiting = await undistributedTables(before)
    if (waiting.length > 0) await refuseOthers(before)
  } finally {
    await before.close()
  }
  // Sessions that began before the settings lack them.
  const database = openAsOwner(connection)
  try {
    await database.script(await distributedForms())
    const done = await moveTables(database, say)
    await moveKeys(database)
    await shareFunctions(database)
    await removeCopies(database, say)
    await setGrants(database)
    return done
  } finally {
    await database.close()
  }
}

async function requireCluster(db: Database): Promise<void> {
  if (!(await hasCitus(db))) {
    const { isInstalled } = await db.one<{ isInstalled: boolean }>(
      sql`select exists (select 1 from pg_available_extensions where name = 'citus') as is_installed`,
    )
    throw new Error(
      isInstalled
        ? 'the extension citus is not in this database: as an administrator, run "create extension citus" in a database of this name on each node, and add the nodes on the coordinator, as docs/scale.md says'
        : 'this server has no Citus, so its tables cannot be distributed: nothing was changed. Run "bezant migrate" without --distributed, or name the coordinator of a distributed server in DATABASE_URL',
    )
  }
  const nodes = await db.all<{ groupid: number; place: string; holdsShards: boolean }>(
    sql`select groupid, nodename || ':' || nodeport as place, shouldhaveshards as holds_shards
      from pg_dist_node where isactive and noderole = 'primary'`,
  )
  const { isCoordinator } = await db.one<{ isCoordinator: boolean }>(
    sql`select citus_is_coordinator() as is_coordinator`,
  )
  if (nodes.length > 0 && !isCoordinator)
    throw new Error('DATABASE_URL leads to a worker node of Citus: name the coordinator in it')
  if (!nodes.some(({ groupid }) => groupid === 0))
    throw new Error(
      `the coordinator does not know its own address: as an administrator, run "select citus_set_coordinator_host('HOST', PORT)" in this database`,
    )
  if (!nodes.some(({ holdsShards }) => holdsShards))
    throw new Error(
      `no node holds shards: as an administrator, run "select citus_add_node('HOST', PORT)" in this database for each node`,
    )
}

/** Runs statements on each node with the rights of the session, and returns the first failure with its node. */
async function failureOn(db: Db, which: 'all_nodes' | 'workers', text: string): Promise<string | undefined> {
  const rows = await db.all<{ failure: string }>(sql`select ${
    which === 'all_nodes'
      ? sql`(select nodename || ':' || nodeport from pg_dist_node n where n.nodeid = r.nodeid)`
      : sql`r.nodename || ':' || r.nodeport`
  } || ': ' || r.result as failure
    from ${raw(`run_command_on_${which}`)}(${text}) r where not r.success`)
  return rows[0]?.failure
}

/** Statements of one node alone: Citus would pass them on, and refuses them on other nodes than the coordinator. */
const apart = (statements: string) =>
  `do $apart$ begin ${['ddl', 'create_role', 'alter_role']
    .map((what) => `perform set_config('citus.enable_${what}_propagation', 'off', true);`)
    .join(' ')} ${statements}; end $apart$`

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** The statements that give every session in a database its settings, for each node. */
export const settingStatements = (database: string): string[] =>
  Object.entries(sessionSettings).map(
    ([setting, value]) => `alter database ${quoted(database)} set ${setting} = '${value}'`,
  )

async function setSettings(db: Db): Promise<void> {
  const { name } = await db.one<{ name: string }>(sql`select current_database() as name`)
  const statements = settingStatements(name)
  for (const statement of statements) {
    const failure = await failureOn(db, 'all_nodes', statement)
    if (failure !== undefined)
      throw new Error(
        `a node refused a setting of the database (${failure}): as an administrator, run "${statements.join('; ')}" on each node`,
      )
  }
}

const login = 'alter role bezant_runtime login'

/** The coordinator opens its sessions on other nodes as the role of the program, which therefore may log in. */
async function setRole(db: Db): Promise<void> {
  const failure = await failureOn(
    db,
    'all_nodes',
    apart(`if not exists (select from pg_roles where rolname = 'bezant_runtime') then create role bezant_runtime login; end if;
      if not (select rolcanlogin from pg_roles where rolname = 'bezant_runtime') then ${login}; end if`),
  )
  if (failure !== undefined)
    throw new Error(
      `a node has no role bezant_runtime that may log in (${failure}): as an administrator, run "create role bezant_runtime" where it is missing and "${login}" on each node`,
    )
}

/** Throws with the answer of a node that does not let the coordinator in as the program. */
async function requireLogin(database: Database): Promise<void> {
  const failure = await database.tx(async (tx) => {
    await tx.script('set local role bezant_runtime')
    return failureOn(tx, 'all_nodes', 'select 1')
  })
  if (failure !== undefined)
    throw new Error(
      `a node refuses the program's sessions from the coordinator (${failure}): let the role bezant_runtime log in from the coordinator in pg_hba.conf of each node, or give the coordinator its password in a .pgpass file`,
    )
}

/** Tables move while no other process uses them: a statement on tables of which half have moved fails. */
async function refuseOthers(db: Db): Promise<void> {
  const others = await db.all<{
    name: string
  }>(sql`select distinct application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'bezant %'
      and application_name <> current_setting('application_name') order by 1 limit 5`)
  if (others.length > 0)
    throw new Error(
      `other processes of Bezant use this database (${others.map(({ name }) => name).join(', ')}): stop them before tables are distributed`,
    )
}

/** Copies functions to the nodes that were made before the server had any: triggers call more than those that Citus brings with them. */
async function shareFunctions(database: Database): Promise<void> {
  const missing = await database.all<{
    name: string
  }>(sql`select p.oid::regprocedure::text as name from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and not exists (select 1 from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
      and not exists (select 1 from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)`)
  for (const { name } of missing)
    await database.run(sql`select create_distributed_function(${name}::text::regprocedure)`)
}

async function moveTables(database: Database, say: Said): Promise<string[]> {
  const tables = await undistributedTables(database)
  for (const [index, table] of tables.entries()) {
    await database.tx(async (tx) => {
      await tx.script(`set local statement_timeout = 0; set local lock_timeout = '60s';
        set local citus.enable_local_reference_table_foreign_keys = off`)
      const own = sql`t.tgrelid = ${table.name}::text::regclass`
      await withoutTriggers(tx, own, () => tx.run(move(table)))
    })
    say(
      `${index + 1} of ${tables.length}: ${table.name} is ${tableKind(table) === 'shared' ? 'on each node' : 'distributed'}`,
    )
  }
  return tables.map(({ name }) => name)
}

/**
 * Lets the foreign keys of tables of the coordinator lead to its own copy of a shared table, in which the rows are now. Citus makes
 * such a table anew, with the rights that new tables get: it gets those that it had.
 */
async function moveKeys(database: Database): Promise<void> {
  const tables = await findTables(database, true)
  const isShared = new Set(tables.filter((table) => tableKind(table) === 'shared').map(({ name }) => name))
  const isLeading = (table: FoundTable) =>
    tableKind(table) === 'local' &&
    !table.isDistributed &&
    table.references.some((name) => isShared.has(name))
  const leading = tables.filter(isLeading).map(({ name }) => name)
  await database.tx(async (tx) => {
    const given = await tx.all<{ name: string; rights: string }>(sql`select c.relname as name,
        string_agg(a.privilege_type, ', ') as rights
      from pg_class c cross join aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
      where c.oid = any(${leading}::text[]::regclass[]) and r.rolname = 'bezant_runtime' group by c.relname`)
    for (const name of leading)
      await tx.run(
        sql`select citus_add_local_table_to_metadata(${name}::text::regclass, cascade_via_foreign_keys => true)`,
      )
    for (const { name, rights } of given)
      await tx.script(
        `revoke all on ${quoted(name)} from bezant_runtime; grant ${rights} on ${quoted(name)} to bezant_runtime`,
      )
  })
}

/** Rows that move must not fire triggers, as if they were added: the work that they left is done, or waits in tables of its own. */
async function withoutTriggers(tx: Db, which: Sql, work: () => Promise<unknown>): Promise<void> {
  const triggers = await tx.all<{ removal: string; definition: string }>(sql`select
      format('drop trigger %I on %I', t.tgname, c.relname) as removal, pg_get_triggerdef(t.oid) as definition
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace and not t.tgisinternal and ${which}`)
  for (const { removal } of triggers) await tx.script(removal)
  await work()
  for (const { definition } of triggers) await tx.script(definition)
}

/** Removes the rows that stayed behind on the coordinator, where no statement sees them: those that others refer to last. */
async function removeCopies(database: Database, say: Said): Promise<void> {
  const tables = inOrder(await findTables(database, true)).toReversed()
  const copies = await database.all<{ name: string }>(sql`select logicalrelid::regclass::text as name
    from pg_dist_partition where pg_relation_size(logicalrelid) > 0`)
  const left = tables.filter((table) => copies.some(({ name }) => name === table.name))
  if (left.length === 0) return
  const ofTruncate = sql`(t.tgtype & 32) <> 0`
  await database.tx((tx) =>
    withoutTriggers(tx, ofTruncate, async () => {
      for (const { name } of left)
        await tx.run(sql`select truncate_local_data_after_distributing_table(${name}::text::regclass)`)
    }),
  )
  say(`the coordinator dropped the former rows of ${left.length} tables`)
}

const move = (table: FoundTable) => {
  if (tableKind(table) === 'shared') return sql`select create_reference_table(${table.name}::text::regclass)`
  return table.name === 'entities'
    ? sql`select create_distributed_table('entities', 'id')`
    : sql`select create_distributed_table(${table.name}::text::regclass, 'entity_id', colocate_with => 'entities')`
}

/**
 * Citus copies the rights on tables to other nodes; those on views and functions are set here, as the coordinator has them. Shards
 * on the coordinator begin with the rights that new tables get, which may be more than those of their table.
 */
async function setGrants(db: Database): Promise<void> {
  const { grants } = await db.one<{ grants: string[] }>(sql`select array(
      select format('grant %s on %I to bezant_runtime', string_agg(a.privilege_type, ', '), c.relname)
      from pg_class c cross join aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and r.rolname = 'bezant_runtime'
        and exists (select 1 from pg_dist_object o where o.classid = 'pg_class'::regclass and o.objid = c.oid)
      group by c.relname
      union all
      select format('revoke all on function %s from public; grant execute on function %1$s to bezant_runtime', p.oid::regprocedure)
      from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proacl is not null) as grants`)
  const failure = await failureOn(db, 'workers', apart(grants.join('; ')))
  if (failure !== undefined) throw new Error(`a node refused rights of the program: ${failure}`)
  const limited = await db.all<{
    name: string
    denied: string
  }>(sql`select c.relname as name, string_agg(p.name, ', ') as denied
    from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid
    cross join unnest(array['insert', 'update', 'delete']) as p(name)
    where not has_table_privilege('bezant_runtime', c.oid, p.name) group by c.relname`)
  for (const { name, denied } of limited) {
    const [refused] = await db.all<{ result: string }>(sql`select result from run_command_on_placements(
      ${name}::text::regclass, ${`revoke ${denied} on %s from bezant_runtime`}) where not success`)
    if (refused) throw new Error(`a shard of ${name} refused rights of the program: ${refused.result}`)
  }
}

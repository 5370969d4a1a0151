/** Statements about tables that tests need where the tables are: on one server, or on the shards of a distributed one. */
import { type Database, sql } from '#runtime/db/db'
import { isOneServer } from './one-server.ts'

/** Runs statements, as for a function or a table of a test, on each server that has a part of the tables. */
export async function onEachNode(owner: Database, statements: string): Promise<void> {
  if (isOneServer) return owner.script(statements)
  const text = `do $apart$ begin perform set_config('citus.enable_ddl_propagation', 'off', true);
    execute $all$${statements}$all$; end $apart$`
  await requireSuccess(owner.all(sql`select result from run_command_on_all_nodes(${text}) where not success`))
}

/** Runs a statement about a table, whose name stands for `%s`, on each of its parts. */
export async function onTable(owner: Database, table: string, statement: string): Promise<void> {
  const hasParts =
    !isOneServer &&
    (await owner.maybe(sql`select 1 from pg_dist_partition where logicalrelid = ${table}::text::regclass`))
  if (!hasParts) return owner.script(statement.replaceAll('%s', `"${table}"`))
  await requireSuccess(
    owner.all(sql`select result from run_command_on_placements(${table}::text::regclass, ${statement})
      where not success`),
  )
}

async function requireSuccess(failures: Promise<{ result: string }[]>): Promise<void> {
  const [failure] = await failures
  if (failure) throw new Error(failure.result)
}

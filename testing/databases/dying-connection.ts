import { type Connection, openAsOwner } from '#runtime/db/db'

/** Points at which a connection is lost while a row of a table is updated. */
export const deathsOf = (table: string) => [
  {
    name: 'the connection is lost before the commit',
    trigger: `create trigger dies after update on ${table} for each row execute function die()`,
  },
  {
    name: 'the connection is lost in the commit',
    trigger: `create constraint trigger dies after update on ${table} deferrable initially deferred
      for each row execute function die()`,
  },
]

/** Runs `act` while the server ends each session that updates a row of the table. */
export async function whileDying<Result>(
  connection: Connection,
  table: string,
  trigger: string,
  act: () => Promise<Result>,
): Promise<Result> {
  const owner = openAsOwner(connection)
  try {
    await owner.script(`create or replace function die() returns trigger language plpgsql security definer
      as 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'; ${trigger}`)
    return await act()
  } finally {
    await owner.script(`drop trigger dies on ${table}`)
    await owner.close()
  }
}

import { type Connection, openAsOwner } from '#runtime/db/db'
import { onEachNode, onTable } from './nodes.ts'

/** Points at which a connection is lost while a row of a table is updated. */
export const deaths = [
  {
    name: 'the connection is lost before the commit',
    trigger: 'create trigger dies after update on %s for each row execute function die()',
  },
  {
    name: 'the connection is lost in the commit',
    trigger:
      'create constraint trigger dies after update on %s deferrable initially deferred for each row execute function die()',
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
    await onEachNode(
      owner,
      `create or replace function die() returns trigger language plpgsql security definer
        as 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`,
    )
    await onTable(owner, table, trigger)
    return await act().finally(() => onTable(owner, table, 'drop trigger dies on %s'))
  } finally {
    await owner.close()
  }
}

/**
 * The nodes of a distributed server, for test databases. What Citus knows of a database are rows of tables in it, so that a copy of a
 * distributed template, made under one name on each node, is a distributed database of its own.
 */
import { type Connection, type Database, openAsOwner, sql } from '#runtime/db/db'
import { distributeTables, settingStatements } from '#runtime/db/distribute'

export type DistributedServer = {
  /** A session on each node, the coordinator first. */
  admins: readonly Database[]
  /** Adds the nodes to an empty database that each of them has. */
  join(name: string): Promise<void>
  /** Distributes the tables of a template. */
  distribute(connection: Connection): Promise<void>
  /** Settings of a database, which a copy of it lacks. */
  set(name: string): Promise<void>
  /** Ends the sessions that Citus itself has in a database that is going to be copied. */
  leave(name: string): Promise<void>
}

type Place = { host: string; port: number }

/** Opens the server whose coordinator and nodes a database knows, by its URL. */
export async function openDistributedServer(url: string): Promise<DistributedServer> {
  const known = openAsOwner({ url })
  const places = await known.all<Place>(sql`select nodename as host, nodeport as port from pg_dist_node
    where noderole = 'primary' order by groupid`)
  await known.close()
  const at = ({ host, port }: Place, name: string) => {
    const address = new URL(url)
    address.hostname = host
    address.port = String(port)
    address.pathname = `/${name}`
    return { url: address.href }
  }
  const admins = places.map((place) => openAsOwner(at(place, 'postgres'), 2))
  const onEach = (work: (admin: Database) => Promise<unknown>) => Promise.all(admins.map(work))
  return {
    admins,
    join: async (name) => {
      for (const place of places) await within(at(place, name), (db) => db.script('create extension citus'))
      const [coordinator, ...others] = places
      await within(at(coordinator!, name), async (db) => {
        await db.run(sql`select citus_set_coordinator_host(${coordinator!.host}, ${coordinator!.port})`)
        for (const { host, port } of others) await db.run(sql`select citus_add_node(${host}, ${port})`)
      })
    },
    distribute: async (connection) => void (await distributeTables(connection, () => undefined)),
    set: async (name) => {
      await onEach(async (admin) => {
        for (const statement of settingStatements(name)) await admin.script(statement)
      })
    },
    leave: async (name) => {
      await onEach((admin) =>
        admin.run(sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = ${name} and (backend_type ilike 'citus%' or application_name ilike 'citus%')`),
      )
    },
  }
}

async function within(connection: Connection, work: (db: Database) => Promise<unknown>): Promise<void> {
  const db = openAsOwner(connection)
  try {
    await work(db)
  } finally {
    await db.close()
  }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Connection } from '#runtime/db/db'

/** A connection to a database that can lose all packets without either end being notified. */
export type BreakableConnection = {
  connection: Connection
  setSilent(on: boolean): void
  close(): Promise<void>
}

export async function openBreakableConnection(connection: Connection): Promise<BreakableConnection> {
  let silent = false
  const sockets = new Set<Socket>()
  const join = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on('data', (bytes) => {
      if (!silent) to.write(bytes)
    })
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
  const server = createServer((client) => {
    const database = connect(placeOf(connection))
    join(client, database)
    join(database, client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    connection: at(connection, server.address() as AddressInfo),
    setSilent: (on) => {
      silent = on
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

function placeOf(connection: Connection): NetConnectOpts {
  if (!('url' in connection)) {
    const { host, port } = connection
    return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  }
  const { hostname, port } = new URL(connection.url)
  return { host: hostname, port: Number(port || 5432) }
}

function at(connection: Connection, { address, port }: AddressInfo): Connection {
  if (!('url' in connection)) return { ...connection, host: address, port }
  const url = new URL(connection.url)
  url.host = `${address}:${port}`
  return { url: url.href }
}

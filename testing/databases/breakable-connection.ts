import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Connection } from '#runtime/db/db'

/** A connection to a database that fails in ways that a real server shows only now and then. */
export type BreakableConnection = {
  connection: Connection
  /** Loses all packets without either end being notified. */
  setSilent(on: boolean): void
  /** Ends every session in the packet that tells that it is ready, as a restart of the server can. */
  setEnding(on: boolean): void
  close(): Promise<void>
}

export async function openBreakableConnection(connection: Connection): Promise<BreakableConnection> {
  let silent = false
  let ending = false
  const sockets = new Set<Socket>()
  const join = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on('data', (bytes) => {
      if (!silent) to.write(ending && isReady(bytes) ? Buffer.concat([bytes, terminated]) : bytes)
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
    setEnding: (on) => {
      ending = on
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

/** Whether bytes of a server end with its ReadyForQuery message, outside a transaction. */
const isReady = (bytes: Buffer) => bytes.subarray(-6).equals(Buffer.from('Z\0\0\0\x05I', 'latin1'))

/** The ErrorResponse message of a session that an administrator ended. */
const terminated = (() => {
  const fields = ['SFATAL', 'C57P01', 'Mterminating connection due to administrator command', ''].join('\0')
  const body = Buffer.from(`${fields}\0`, 'latin1')
  const head = Buffer.from('E\0\0\0\0', 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
})()

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

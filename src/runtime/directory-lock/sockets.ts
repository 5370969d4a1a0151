import { createConnection, createServer, type Server } from 'node:net'
import { systemCode } from '#lib/system-code'

/** A listening socket with a unique name, by which its process contends for the lock. */
export type Flag = { name: string; lower: () => Promise<void> }

/** Binds and listens on a unix socket (on Windows a named pipe); closes each connection without sending data. */
export function listenOn(path: string): Promise<Server> {
  const server = createServer((connection) => connection.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // `exclusive` keeps a cluster worker from handing the socket to its primary.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject)
      server.on('error', () => {})
      server.unref()
      resolve(server)
    })
  })
}

/**
 * Checks whether a living process listens at `path`. The kernel answers, even for a suspended process.
 * `gone` means that there is no such path.
 */
export function probe(path: string): Promise<'alive' | 'dead' | 'gone'> {
  return new Promise((resolve) => {
    const connection = createConnection({ path })
    connection.once('connect', () => {
      connection.destroy()
      resolve('alive')
    })
    connection.once('error', (error) => {
      const code = systemCode(error)
      // Other errors, such as a full backlog or a missing permission, do not prove that the process is dead.
      resolve(code === 'ENOENT' ? 'gone' : code === 'ECONNREFUSED' ? 'dead' : 'alive')
    })
  })
}

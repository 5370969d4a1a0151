import { createConnection, createServer, type Server } from 'node:net'
import { systemCode } from './errors.ts'

/** Binds and listens on a unix socket (on Windows a named pipe); what connects is told nothing and let go. */
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
 * Whether a living process listens at `path`: the kernel's word, which needs nothing from that process, not even
 * that it is awake. `gone` means that there is no such path.
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
      // Anything else, such as a full backlog or a missing permission, is no proof of death.
      resolve(code === 'ENOENT' ? 'gone' : code === 'ECONNREFUSED' ? 'dead' : 'alive')
    })
  })
}

import { createServer } from 'node:net'

/** Returns a free loopback port: the preferred one, or any. */
export function freePort(preferred?: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) => (preferred ? resolve(freePort()) : reject(error)))
    server.listen(preferred ?? 0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

import { createServer } from 'node:net'

/** Below the ports from which systems take those of outgoing connections. */
const first = 10_000
const count = 20_000

/** A free port that no outgoing connection takes before the program of the test listens on it. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * count)
    if (await isFree(port)) return port
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { refuseUpgrades } from './refuse-upgrades.ts'

/** A node without WebSocket that holds requests with a mark: each executes until it is let go, or its sender gives up. */
export type HoldingNode = {
  url: string
  /** Holds requests whose body contains `mark`, from now on. */
  hold(mark: string): void
  /** Number of requests that are held, and the largest number that was at once since `hold`. */
  held(): { now: number; most: number }
  /** Passes the held requests on, and all later ones. */
  letGo(): void
  close(): Promise<void>
}

/** Opens a proxy before the node at `rpcUrl` that holds nothing yet. */
export async function openHoldingNode(rpcUrl: string): Promise<HoldingNode> {
  const sockets = new Set<object>()
  let marked: string | undefined
  let most = 0
  let release = () => {}
  let released = Promise.resolve()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (marked !== undefined && body.includes(marked)) {
      sockets.add(response)
      most = Math.max(most, sockets.size)
      await Promise.race([released, once(response, 'close')])
      sockets.delete(response)
    }
    if (response.destroyed) return
    const headers = { 'content-type': 'application/json' }
    await fetch(rpcUrl, { method: 'POST', headers, body })
      .then(async (answer) => response.writeHead(answer.status, headers).end(await answer.text()))
      .catch(() => response.destroy())
  })
  refuseUpgrades(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (mark) => {
      marked = mark
      most = 0
      released = new Promise((resolve) => {
        release = resolve
      })
    },
    held: () => ({ now: sockets.size, most }),
    letGo: () => {
      marked = undefined
      release()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Harness } from '#testing/platform/harness'

/** Serves on this machine until the harness closes, and returns the address. */
export async function serveUntilEnd(harness: Harness, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  harness.atClose(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The harness behind a connection that ends before its answers from this path, and returns the address. */
export const openLosingFront = (harness: Harness, path: string): Promise<string> =>
  serveUntilEnd(harness, async (request, response) => {
    const { method = '', url = '' } = request
    const body = await text(request)
    const { authorization = '' } = request.headers
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(harness.url + url, { method, headers, ...(body && { body }) })
    if (url.startsWith(path)) return response.destroy()
    return response.writeHead(answer.status).end(await answer.text())
  })

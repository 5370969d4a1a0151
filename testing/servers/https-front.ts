import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { request as ask } from 'node:http'
import { createServer, globalAgent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openServerTls } from '#sandbox/tls'

/**
 * Serves the server at this address over https too, for clients that insist on it, with the certificate of a sandbox. This process
 * trusts it until `close`.
 */
export async function openHttpsFront(behind: string): Promise<{ url: string; close(): void }> {
  const folder = await mkdtemp(join(tmpdir(), 'front-'))
  const tls = await openServerTls(folder, '127.0.0.1', Date.now())
  const front = createServer(tls, (received, answer) => {
    const { method, headers, url } = received
    const passed = ask(new URL(url!, behind), { method, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
    })
    passed.once('error', () => answer.destroy())
    received.pipe(passed)
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const { ca } = globalAgent.options
  globalAgent.options.ca = tls.cert
  return {
    url: `https://127.0.0.1:${(front.address() as AddressInfo).port}`,
    close: () => {
      globalAgent.options.ca = ca
      globalAgent.destroy()
      front.close()
      front.closeAllConnections()
    },
  }
}

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { ApiError } from '#lib/errors'
import type { Config } from '#runtime/config'
import { newListener } from './listener.ts'
import { explainListen, type ListenAddress } from './port.ts'

/** The parts of a process that has opened its database, and none of its keys. */
const notReady = {
  ready: false,
  database: 'ready',
  clock: 'ready',
  engines: 'unknown',
  signing: 'waiting',
  chains: [],
}

/**
 * Answers probes of a process that waits for something before it serves: it is alive and not ready. All other requests get 503 with
 * the message. Returns the port, and what ends it.
 */
export async function answerWhileWaiting(
  config: Config,
  address: ListenAddress,
  message: string,
): Promise<{ port: number; stop(): Promise<void> }> {
  const { status: unavailable, code } = new ApiError('unavailable')
  const answers = new Map<string | undefined, { status: number; body: object }>([
    ['/ping', { status: 200, body: { message: 'pong' } }],
    ['/ready', { status: unavailable, body: notReady }],
  ])
  const server = newListener(config, (request, response) => {
    const { status, body } = answers.get(request.url) ?? { status: unavailable, body: { code, message } }
    response
      .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Retry-After': 1 })
      .end(JSON.stringify(body))
  })
  server.listen({ host: address.host, port: address.port })
  await once(server, 'listening').catch(explainListen(address))
  const stop = async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { port: (server.address() as AddressInfo).port, stop }
}

import { type Agent, createServer, type IncomingHttpHeaders, Agent as NodeAgent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** The answer of one server. */
type Reply = { status: number; headers: IncomingHttpHeaders; body: Buffer }

export type Balancer = {
  url: string
  counts: { requests: number; repeated: number; given: number }
  close(): Promise<void>
}

const answerWithinMs = 40_000
const patienceMs = 180_000

/**
 * One address before all API processes. Requests take turns at them; one whose connection broke, or that was answered that the
 * server is unavailable, is made again at the next server, as a client does who wants an answer.
 */
export async function openBalancer(urls: () => readonly string[]): Promise<Balancer> {
  const counts = { requests: 0, repeated: 0, given: 0 }
  const agent = new NodeAgent({ keepAlive: true, maxSockets: 64 })
  let turn = 0
  const askAny = async (method: string, path: string, headers: IncomingHttpHeaders, body: Buffer) => {
    const giveUpMs = performance.now() + patienceMs
    for (let attempt = 0; ; attempt++) {
      const all = urls()
      const url = all[turn++ % Math.max(1, all.length)]
      const reply = url && (await ask(agent, url + path, { method, headers, body }).catch(() => undefined))
      if (reply && reply.status !== 503 && reply.status !== 429) return reply
      if (performance.now() > giveUpMs) return undefined
      if (attempt === 0) counts.repeated += 1
      await sleep(200)
    }
  }
  const server = createServer(async (incoming, outgoing) => {
    try {
      counts.requests += 1
      const { method = 'GET', url = '/', headers } = incoming
      const reply = await askAny(method, url, headers, await buffer(incoming))
      if (!reply) counts.given += 1
      const { 'transfer-encoding': _, connection: __, ...kept } = reply?.headers ?? {}
      outgoing.writeHead(reply?.status ?? 504, kept).end(reply?.body)
    } catch {
      outgoing.destroy()
    }
  })
  server.keepAliveTimeout = 30_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    close: async () => {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Asked = { method: string; headers: IncomingHttpHeaders; body: Buffer }

function ask(agent: Agent, url: string, { method, headers, body }: Asked): Promise<Reply> {
  const { connection: _, ...kept } = headers
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: kept, agent, timeout: answerWithinMs }, (response) => {
      buffer(response).then(
        (answered) => resolve({ status: response.statusCode!, headers: response.headers, body: answered }),
        reject,
      )
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.on('error', reject)
    sent.end(body)
  })
}

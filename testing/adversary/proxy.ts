import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Exchange, ProxiedAnswer, ProxiedCall, ProxiedReply } from '#sandbox/faults/node/exchange'
import { refuseUpgrades } from '#testing/nodes/refuse-upgrades'

export type RpcProxy = {
  url: string
  /** Asks the node behind directly, bypassing `handle`. */
  ask(requests: readonly ProxiedCall[]): Promise<ProxiedAnswer[]>
  /** Changes the node behind. */
  leadTo(rpcUrl: string): void
  /** Refuses connections until `up`, as a stopped node does. */
  down(): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a proxy before the node at `target`; `handle` decides about every HTTP request. There is no WebSocket: an upgrade
 * is answered 404, and a client that wants heads has to poll.
 */
export async function openRpcProxy(
  target: string,
  handle: (exchange: Exchange) => Promise<ProxiedReply>,
): Promise<RpcProxy> {
  let behind = target
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const parsed = JSON.parse(await textOf(incoming)) as ProxiedCall | ProxiedCall[]
    const batch = Array.isArray(parsed)
    const requests = batch ? parsed : [parsed]
    const forward = (some = requests) => forwardTo(behind, some)
    const closed = new Promise<void>((resolve) => outgoing.once('close', resolve))
    write(outgoing, await handle({ requests, batch, closed, forward }), batch)
  }
  const make = () => {
    const made = createServer((incoming, outgoing) => {
      serve(incoming, outgoing).catch(() => outgoing.destroy())
    })
    refuseUpgrades(made)
    return made
  }
  let server: Server | undefined = await listening(make(), 0)
  const { port } = server.address() as AddressInfo
  const down = async () => {
    const closing = server
    server = undefined
    if (!closing) return
    const closed = new Promise((resolve) => closing.close(resolve))
    closing.closeAllConnections()
    await closed
  }
  return {
    url: `http://127.0.0.1:${port}`,
    ask: (requests) => forwardTo(behind, requests),
    leadTo: (rpcUrl) => {
      behind = rpcUrl
    },
    down,
    up: async () => {
      server ??= await listening(make(), port)
    },
    close: down,
  }
}

function listening(server: Server, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function forwardTo(url: string, requests: readonly ProxiedCall[]): Promise<ProxiedAnswer[]> {
  if (requests.length === 0) return []
  const numbered = requests.map((request, id) => ({ ...request, jsonrpc: '2.0', id }))
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(numbered),
  })
  const answers = (await response.json()) as ProxiedAnswer[]
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return requests.map((request, id) => {
    const answer = byId.get(id)
    if (!answer) throw new Error(`the node behind did not answer ${request.method}`)
    return { ...answer, id: request.id }
  })
}

function write(outgoing: ServerResponse, reply: ProxiedReply, batch: boolean): void {
  if (reply === 'hang') return
  if (reply === 'reset') return void outgoing.destroy()
  if ('answers' in reply) {
    const body = JSON.stringify(batch ? reply.answers : reply.answers[0])
    return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }
  const { status, headers = {}, body, cutAfter } = reply
  if (cutAfter === undefined) return void outgoing.writeHead(status, headers).end(body)
  // The length announces the whole body; the connection ends before its end.
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  outgoing.write(body.slice(0, cutAfter), () => outgoing.destroy())
}

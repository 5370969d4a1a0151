import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { mayChange } from './requests.ts'
import { postToNode, type Reply } from './rpc.ts'

/** A request before the node receives it. `forward` asks the node, as often as wanted. */
type InterceptedCall = {
  body: Buffer
  path: string
  forward: (body: Buffer) => Promise<string>
  /** Set where the interface of the node is REST. */
  rest?: RestCall
}

/** A request by REST: its method and documented path, and the answer of the node, or that of one with these faults. */
export type RestCall = {
  route: string
  /** The transaction that it sends or asks about. */
  txHash?: string | undefined
  answer(lies?: {
    lagBlocks?: number
    losesTransactions?: boolean
  }): Promise<{ status: number; body: string }>
}

/**
 * The fate of a request: 'forward' it, 'drop' the connection unanswered, let it 'hang', or answer with a body of one's own, of
 * which the connection may end after so many characters.
 */
export type Verdict =
  | 'forward'
  | 'drop'
  | 'hang'
  | { body: string; status?: number; headers?: Record<string, string>; cutAfter?: number }

/** Decides on a request before the node receives it. It may delay the request. Used for fault injection. */
export type Intercept = (call: InterceptedCall) => Promise<Verdict>

type ProxyOptions = {
  /** Resolves to the node's address once it runs; the address changes when the node is restarted. */
  target: () => Promise<string>
  /** Forwards a request that may change the chain and returns the answer for the client. */
  write: (body: Buffer) => Promise<Reply>
  intercept: () => Intercept | undefined
  port?: number | undefined
}

export type ChainProxy = { url: string; port: number; close(): Promise<void> }

const bodyLimitBytes = 512 * 1024 * 1024
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'host',
  'upgrade',
])

/** Serves the published address of a chain, HTTP and WebSocket on one port: reads pass through unchanged. */
export async function startProxy(options: ProxyOptions): Promise<ChainProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 512, maxFreeSockets: 64 })
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    serve(options, agent, incoming, outgoing).catch((error) => fail(outgoing, error))
  })
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: bodyLimitBytes,
    perMessageDeflate: false,
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.handleUpgrade(incoming, socket, head, (client) => joinSockets(options, client))
  })
  await listenOnLoopback(server, options.port)
  const { port } = server.address() as AddressInfo
  const close = async () => {
    for (const client of sockets.clients) client.terminate()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    agent.destroy()
    await closed
  }
  return { url: `http://127.0.0.1:${port}`, port, close }
}

/** Listens on the preferred port of this machine if it is free, else on any. */
export function listenOnLoopback(server: Server, port = 0): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (port === 0 ? reject(error) : resolve(listenOnLoopback(server, 0))))
    server.listen(port, '127.0.0.1', () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

async function serve(
  options: ProxyOptions,
  agent: Agent,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) {
  const body = await readBody(incoming)
  const path = incoming.url ?? '/'
  const verdict = await options.intercept()?.({ body, path, forward: forwardTo(options) })
  if (verdict === 'drop') return void incoming.socket.destroy()
  if (verdict === 'hang') return
  if (typeof verdict === 'object') return sendVerdict(outgoing, verdict)
  if (incoming.method === 'POST' && mayChange(body)) {
    const reply = await options.write(body)
    outgoing.writeHead(reply.status, ownHeaders(reply.headers))
    return void outgoing.end(reply.body)
  }
  await passThrough(await options.target(), agent, body, incoming, outgoing)
}

function passThrough(
  target: string,
  agent: Agent,
  body: Buffer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...ownHeaders(incoming.headers), 'content-length': body.length }
    const upstream = httpRequest(target, { method: incoming.method, agent, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, ownHeaders(answer.headers))
      answer.pipe(outgoing)
      answer.on('error', reject)
      outgoing.on('close', () => {
        upstream.destroy()
        resolve()
      })
    })
    upstream.on('error', reject)
    upstream.end(body)
  })
}

function ownHeaders(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !hopHeaders.has(name))
  return Object.fromEntries(kept) as Record<string, string | string[]>
}

function readBody(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let sizeBytes = 0
    incoming.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length
      if (sizeBytes > bodyLimitBytes) incoming.destroy(new Error('The request is larger than 512 MiB'))
      else chunks.push(chunk)
    })
    incoming.on('error', reject)
    incoming.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
  })
}

/** Connects the client's socket to a socket of its own to the node; writes take the same path as over HTTP. */
function joinSockets(options: ProxyOptions, client: WebSocket): void {
  const upstream = options.target().then((target) => openSocket(target.replace('http', 'ws'), client))
  upstream.catch(() => client.terminate())
  let previous: Promise<unknown> = upstream
  client.on('message', (data: Buffer, isBinary: boolean) => {
    previous = previous
      .then(() => relay(options, client, upstream, data, isBinary))
      .catch(() => client.terminate())
  })
  client.on('error', () => client.terminate())
  client.on('close', () => upstream.then((socket) => socket.terminate()).catch(() => {}))
}

async function relay(
  options: ProxyOptions,
  client: WebSocket,
  upstream: Promise<WebSocket>,
  data: Buffer,
  isBinary: boolean,
): Promise<void> {
  const verdict = await options.intercept()?.({ body: data, path: '/', forward: forwardTo(options) })
  if (verdict === 'drop') return client.terminate()
  if (verdict === 'hang') return
  if (typeof verdict === 'object') return client.send(verdict.body)
  if (mayChange(data)) {
    // Not awaited: requests on one socket have no guaranteed order, and waiting would serialize senders.
    options.write(data).then(
      (reply) => client.send(reply.body.toString()),
      () => client.terminate(),
    )
    return
  }
  const socket = await upstream
  socket.send(data, { binary: isBinary })
}

function openSocket(url: string, client: WebSocket): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { maxPayload: bodyLimitBytes, perMessageDeflate: false })
    socket.on('message', (data: Buffer, isBinary: boolean) => client.send(data, { binary: isBinary }))
    socket.on('open', () => resolve(socket))
    socket.on('error', reject)
    socket.on('close', () => client.terminate())
  })
}

/** Asks the node as the proxy does: what may change the chain is recorded. */
const forwardTo = (options: ProxyOptions) => async (body: Buffer) => {
  const reply = mayChange(body) ? await options.write(body) : await postToNode(await options.target(), body)
  return reply.body.toString()
}

/** Sends an answer in place of that of the node. */
export function sendVerdict(
  outgoing: ServerResponse,
  { body, status = 200, headers, cutAfter }: Exclude<Verdict, string>,
): void {
  const all = headers ?? { 'content-type': 'application/json', 'access-control-allow-origin': '*' }
  if (cutAfter === undefined) return void outgoing.writeHead(status, all).end(body)
  // The length announces the whole body; the connection ends before its end.
  outgoing.writeHead(status, { ...all, 'content-length': Buffer.byteLength(body) })
  outgoing.write(body.slice(0, cutAfter), () => outgoing.destroy())
}

function fail(outgoing: ServerResponse, error: unknown): void {
  const message = `The local node did not answer: ${error instanceof Error ? error.message : String(error)}`
  if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy()
  sendJson(outgoing, 502, JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32603, message } }))
}

function sendJson(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
  outgoing.end(body)
}

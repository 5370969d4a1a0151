import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { refusalCodes } from '#chains/solana/rpc/codes'
import { readLimitedBody } from '../limited-body.ts'
import { type Intercept, listenOnLoopback, sendVerdict } from '../proxy.ts'
import { SolanaRpcError } from './errors.ts'
import { jsonText } from './json.ts'
import type { LedgerChange, SolanaLedger } from './ledger.ts'
import { errorBody, readMethods } from './read-methods.ts'
import { sendMethods } from './send-methods.ts'
import { openSubscriptions } from './subscriptions.ts'
import { type RpcFaults, solanaViewOf } from './view.ts'

/** An address that serves the ledger: JSON-RPC over HTTP, and over WebSocket with subscriptions. */
export type SolanaEndpoint = {
  url: string
  /** The address of the WebSocket, on the same port. */
  socketUrl: string
  port: number
  /** Sets its faults in place of earlier ones; an empty object ends them. */
  setFaults(faults: RpcFaults): void
  /** Sets a hook that can delay, drop or answer every request over HTTP; undefined removes it. */
  intercept(hook: Intercept | undefined): void
  close(): Promise<void>
}

type RpcLedger = {
  /** Resolves to the ledger once its files are open. */
  ledger: () => Promise<SolanaLedger>
  /** Functions that are called at each change of the ledger. */
  listeners: Set<(change: LedgerChange) => void>
}

type ServedRpc = RpcLedger & { faults(): RpcFaults; hook(): Intercept | undefined }

const bodyMaxBytes = 1024 * 1024
const batchMax = 100

export async function openRpcEndpoint(source: RpcLedger, wantedPort = 0): Promise<SolanaEndpoint> {
  let faults: RpcFaults = {}
  let hook: Intercept | undefined
  const served: ServedRpc = { ...source, faults: () => faults, hook: () => hook }
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    serve(served, incoming, outgoing).catch(() => outgoing.destroy())
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: bodyMaxBytes, perMessageDeflate: false })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.handleUpgrade(incoming, socket, head, (client) => void serveSocket(served, client))
  })
  await listenOnLoopback(server, wantedPort)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    socketUrl: `ws://127.0.0.1:${port}`,
    port,
    setFaults: (next) => {
      faults = next
    },
    intercept: (next) => {
      hook = next
    },
    close: async () => {
      for (const client of sockets.clients) client.terminate()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
}
const headers = { ...corsHeaders, 'content-type': 'application/json' }

async function serve(served: ServedRpc, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await readLimitedBody(incoming, bodyMaxBytes)
  const ledger = await served.ledger()
  if (incoming.method === 'OPTIONS') return void outgoing.writeHead(204, corsHeaders).end()
  if (!body) return void outgoing.writeHead(413, headers).end()
  // Load balancers ask for this path.
  if (incoming.method === 'GET' && incoming.url === '/health')
    return void outgoing.writeHead(200, headers).end(served.faults().lagBlocks ? 'behind' : 'ok')
  const verdict = await served.hook()?.({
    body,
    path: incoming.url ?? '/',
    forward: async (other) => (await answerBody(served, ledger, other)).text,
  })
  if (typeof verdict === 'object') return sendVerdict(outgoing, { headers, ...verdict })
  if (verdict === 'hang') return
  if (verdict === 'drop') return void incoming.socket.destroy()
  const { text, isDropped } = await answerBody(served, ledger, body)
  if (isDropped) return void incoming.socket.destroy()
  outgoing.writeHead(200, headers).end(text)
}

type AskedMethod = { id: unknown; method: string; params: readonly unknown[] }

function requestIn(value: unknown): AskedMethod {
  const { id = null, method, params = [] } = (value ?? {}) as Partial<AskedMethod>
  if (typeof method !== 'string' || !Array.isArray(params))
    throw new SolanaRpcError('invalidRequest', 'Invalid request')
  return { id, method, params }
}

/** Answers one request or a batch. */
async function answerBody(served: ServedRpc, ledger: SolanaLedger, body: Buffer) {
  let isDropped = false
  const answerOne = (value: unknown) => {
    let id: unknown = null
    try {
      const request = requestIn(value)
      id = request.id
      const { dropsAnswers, answerInstead } = served.faults()
      if (dropsAnswers === 'always' || (dropsAnswers && request.method === 'sendTransaction'))
        isDropped = true
      const instead = answerInstead?.(request)
      const result = instead ?? call(ledger, served.faults(), request)
      return { jsonrpc: '2.0', id, result }
    } catch (error) {
      return { jsonrpc: '2.0', id, error: errorBody(error) }
    }
  }
  let asked: unknown
  try {
    asked = JSON.parse(body.toString())
  } catch {
    return { text: jsonText(parseError), isDropped }
  }
  if (!Array.isArray(asked)) return { text: jsonText(answerOne(asked)), isDropped }
  const isTooLong = asked.length > batchMax
  return { text: jsonText(isTooLong ? batchError : asked.map(answerOne)), isDropped }
}

const failure = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } })
const parseError = failure(refusalCodes.parse, 'Parse error')
const batchError = failure(refusalCodes.invalidRequest, `Batch size exceeded: max ${batchMax}`)

function call(ledger: SolanaLedger, faults: RpcFaults, { method, params }: AskedMethod): unknown {
  const known = Object.hasOwn(readMethods, method) ? readMethods[method] : undefined
  const answer = known ?? (Object.hasOwn(sendMethods, method) ? sendMethods[method] : undefined)
  if (!answer)
    throw new SolanaRpcError('methodNotFound', `Method not found: this local node does not serve ${method}`)
  return answer(solanaViewOf(ledger, faults), params)
}

/** Serves a connection until it ends: the same methods, and subscriptions. */
async function serveSocket(served: ServedRpc, client: WebSocket): Promise<void> {
  let ledger = await served.ledger()
  const send = (value: unknown) => client.send(jsonText(value))
  const subscriptions = openSubscriptions(
    () => solanaViewOf(ledger, served.faults()),
    (method, subscription, result) => send({ jsonrpc: '2.0', method, params: { subscription, result } }),
  )
  const look = (change: LedgerChange) => {
    void served.ledger().then((now) => {
      ledger = now
      subscriptions.changed(change)
    })
  }
  served.listeners.add(look)
  client.on('close', () => served.listeners.delete(look))
  client.on('error', () => client.terminate())
  client.on('message', async (data) => {
    let id: unknown = null
    try {
      ledger = await served.ledger()
      const request = requestIn(JSON.parse(data.toString()))
      id = request.id
      const answered = subscriptions.answer(request.method, request.params)
      send({
        jsonrpc: '2.0',
        id,
        result: answered ? answered.result : call(ledger, served.faults(), request),
      })
      answered?.after()
    } catch (error) {
      send({ jsonrpc: '2.0', id, error: error instanceof SyntaxError ? parseError.error : errorBody(error) })
    }
  })
}

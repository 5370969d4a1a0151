import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readLimitedBody } from '../limited-body.ts'
import { type Intercept, listenOnLoopback, sendVerdict } from '../proxy.ts'
import { transactionHash } from './authenticate.ts'
import { errorStatuses, NodeError } from './errors.ts'
import type { Ledger } from './ledger.ts'
import { type LedgerView, viewOf } from './reads.ts'
import { type NodeAnswer, type NodeRequest, nodeRoutes, showError } from './routes.ts'

/** Lies and failures of one endpoint. Other endpoints of the ledger know nothing of them. */
type EndpointFaults = {
  /** Blocks that it is behind; it has nothing of the pool then. */
  lagBlocks?: number
  /** The chain id that it says. */
  chainId?: number
  /** The lead of its clock, by which it judges expiry and which it shows as the time of the ledger. */
  clockOffMs?: number
  /** Hashes of transactions that it shows nowhere. */
  hidden?: readonly string[]
  /** Whether it accepts transactions and keeps none of them. */
  losesTransactions?: boolean
  /** Whether it ends the connection in place of an answer, of submissions alone or always. */
  dropsAnswers?: 'submissions' | 'always'
  /** An answer in place of the node's, which does not learn of the request; undefined leaves it to the node. */
  answerInstead?: (request: { method: string; path: string }) => NodeAnswer | 'drop' | 'hang' | undefined
}

/** An address that serves the ledger. */
export type AptosEndpoint = {
  /** The address of the REST interface, with `/v1`; `faucetUrl` is the one before it. */
  url: string
  faucetUrl: string
  port: number
  /** Sets its faults in place of earlier ones; an empty object ends them. */
  setFaults(faults: EndpointFaults): void
  /** Sets a hook that can delay, drop or answer every request; undefined removes it. */
  intercept(hook: Intercept | undefined): void
  close(): Promise<void>
}

const bodyMaxBytes = 1024 * 1024

type ServedLedger = {
  /** Resolves to the ledger once its files are open. */
  ledger: () => Promise<Ledger>
  faults: () => EndpointFaults
  hook: () => Intercept | undefined
}

export async function openEndpoint(ledger: ServedLedger['ledger'], wantedPort = 0): Promise<AptosEndpoint> {
  let faults: EndpointFaults = {}
  let hook: Intercept | undefined
  const served = { ledger, faults: () => faults, hook: () => hook }
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    serve(served, incoming, outgoing).catch(() => outgoing.destroy())
  })
  await listenOnLoopback(server, wantedPort)
  const { port } = server.address() as AddressInfo
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  const faucetUrl = `http://127.0.0.1:${port}`
  return {
    url: `${faucetUrl}/v1`,
    faucetUrl,
    port,
    setFaults: (next) => {
      faults = next
    },
    intercept: (next) => {
      hook = next
    },
    close,
  }
}

async function serve(
  { ledger, faults: faultsNow, hook }: ServedLedger,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await readLimitedBody(incoming, bodyMaxBytes)
  const open = await ledger()
  const faults = faultsNow()
  const method = incoming.method ?? 'GET'
  if (method === 'OPTIONS') return void outgoing.writeHead(204, corsHeaders).end()
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://node')
  const path = ownPath(pathname)
  const request = (lies: EndpointFaults): Omit<NodeRequest, 'params'> => ({
    view: viewOf(open, { ...faults, ...lies }),
    viewNow: () => viewOf(open, { ...faultsNow(), ...lies }),
    isBehind: (lies.lagBlocks ?? faults.lagBlocks ?? 0) > 0,
    losesTransactions: lies.losesTransactions ?? faults.losesTransactions ?? false,
    query: searchParams,
    contentType: incoming.headers['content-type'] ?? '',
    body: body ?? Buffer.alloc(0),
  })
  const answerAs = async (lies: EndpointFaults = {}) =>
    body ? answerOf(method, path, request(lies)) : tooLarge
  const verdict = await hook()?.({
    body: body ?? Buffer.alloc(0),
    path: pathname,
    forward: async () => textOf((await answerAs()).json),
    rest: {
      route: routeOf(method, path) ?? `${method} ${path}`,
      txHash: hashIn(method, path, body),
      answer: async (lies) => {
        const { status = 200, json } = await answerAs(lies)
        return { status, body: textOf(json) }
      },
    },
  })
  const headers = () => headersOf(viewOf(open, faultsNow()))
  if (typeof verdict === 'object') return sendVerdict(outgoing, { headers: headers(), ...verdict })
  const instead =
    verdict === 'hang' || verdict === 'drop' ? verdict : faults.answerInstead?.({ method, path })
  if (instead === 'hang') return
  if (instead === 'drop') return void incoming.socket.destroy()
  const answer = instead ?? (await answerAs())
  const isSubmission = method === 'POST' && /^\/v1\/transactions(\/batch)?$/.test(path)
  if (faults.dropsAnswers === 'always' || (faults.dropsAnswers === 'submissions' && isSubmission))
    return void incoming.socket.destroy()
  outgoing.writeHead(answer.status ?? 200, headers())
  outgoing.end(textOf(answer.json))
}

/** The path without the one by which an asker is known, before `/v1`, and without a slash at its end. */
const ownPath = (pathname: string) => pathname.replace(/^\/\w+(?=\/v1(?:\/|$))/, '').replace(/(?<=.)\/$/, '')

/** The hash of the transaction that a request sends or asks about. */
function hashIn(method: string, path: string, body: Buffer | undefined): string | undefined {
  if (method === 'POST') return path === '/v1/transactions' && body ? transactionHash(body) : undefined
  return /^\/v1\/transactions\/(?:wait_)?by_hash\/(0x[0-9a-fA-F]{64})$/.exec(path)?.[1]
}

/** The method and the documented path of a request; undefined of one that the node does not serve. */
function routeOf(method: string, path: string): string | undefined {
  const route = nodeRoutes.find((each) => each.method === method && each.path.test(path))
  return route && `${method} ${route.documented}`
}

/** A number of 64 bits that is the whole answer is written with all its digits. */
const textOf = (json: unknown) => (typeof json === 'bigint' ? String(json) : JSON.stringify(json))

async function answerOf(
  method: string,
  path: string,
  request: Omit<NodeRequest, 'params'>,
): Promise<NodeAnswer> {
  try {
    for (const route of nodeRoutes) {
      const match = route.method === method ? route.path.exec(path) : null
      if (match) return await route.answer({ ...request, params: match.slice(1).map(decodeURIComponent) })
    }
    throw new NodeError('web_framework_error', `This simulated node does not serve ${method} ${path}`)
  } catch (error) {
    if (error instanceof NodeError) return { status: errorStatuses[error.code], json: showError(error) }
    const message = error instanceof Error ? error.message : String(error)
    const isText = error instanceof URIError
    const known = new NodeError(isText ? 'invalid_input' : 'internal_error', message)
    return { status: errorStatuses[known.code], json: showError(known) }
  }
}

const tooLarge: NodeAnswer = {
  status: 413,
  json: {
    message: `The body exceeds ${bodyMaxBytes} bytes`,
    error_code: 'web_framework_error',
    vm_error_code: null,
  },
}

const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-expose-headers': '*',
}

const headersOf = ({ ledger, head, chainId, timestampUs }: LedgerView) => ({
  ...corsHeaders,
  'content-type': 'application/json',
  'x-aptos-chain-id': String(chainId),
  'x-aptos-epoch': '1',
  'x-aptos-ledger-version': String(head.lastVersion),
  'x-aptos-ledger-oldest-version': String(ledger.oldestVersion),
  'x-aptos-ledger-timestampusec': String(timestampUs),
  'x-aptos-block-height': String(head.height),
  'x-aptos-oldest-block-height': String(ledger.oldestHeight),
})

/** The tools over HTTP: a host names the API key of its agent with every request. */
import { isLoopback, parseOrigin } from '#lib/web-origin'
import { openWebServer } from '#runtime/http/web-server'
import { UsageError } from '../command.ts'

type ListenAt = { host: string; port: number }

/** An agent whose key the platform accepts. */
export type Agent = { answer(request: Request): Promise<Response> }

export type AgentRefusal = { status: number; message: string }

type HostServerOptions = ListenAt & {
  /** The origin that hosts use, where a proxy with https is before this command. */
  publicOrigin: string | undefined
  agentOf(apiKey: string): Promise<Agent | AgentRefusal>
}

const bearerPattern = /^Bearer +([\w:.-]{1,500})$/i

/** Reads PORT or HOST:PORT. */
export function listenAtOf(text: string): ListenAt {
  const [, host = '127.0.0.1', port] = /^(?:(\[[0-9a-f:]+\]|[a-z0-9.-]+):)?(\d{1,5})$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new UsageError(
      `--listen must be a port, or a host and a port such as 127.0.0.1:4030, not "${text}"`,
    )
  return { host, port: Number(port) }
}

/** Reads the origin of --public-url. Without one, the command listens to this machine alone. */
export function publicOriginOf(text: string | undefined, { host }: ListenAt): string | undefined {
  const url = text === undefined ? undefined : parseOrigin(text)
  if (text !== undefined && url?.protocol !== 'https:')
    throw new UsageError(
      `--public-url must be the origin of a proxy with https, such as https://agents.example, not "${text}"`,
    )
  if (!url && !isLoopback({ hostname: host }))
    throw new UsageError(
      `--listen ${host} needs --public-url: API keys would cross the network in clear text. Put a proxy with https in front, and give its origin`,
    )
  return url?.origin
}

/** Serves agents over HTTP until it is closed. */
export function serveHosts({ host, port, publicOrigin, agentOf }: HostServerOptions) {
  const answer = async (request: Request) => {
    if (!isForUs(request.headers, publicOrigin))
      return refuse(403, 'Host and Origin must be those of this machine or of --public-url')
    const [, apiKey] = bearerPattern.exec(request.headers.get('authorization') ?? '') ?? []
    if (apiKey === undefined) return refuse(401, 'send the API key of the agent: Authorization: Bearer KEY')
    const agent = await agentOf(apiKey)
    return 'answer' in agent ? agent.answer(request) : refuse(agent.status, agent.message)
  }
  return openWebServer({
    host: host.replace(/^\[|\]$/g, ''),
    port,
    path: '/mcp',
    bodyBytesMax: 262_144,
    // Purchases and transfers wait for their outcome.
    silenceMaxMs: 300_000,
    answer,
    refuse,
  }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`cannot listen at ${host}:${port} (${code}): choose another address with --listen`)
  })
}

/** Pages of other origins are refused, also those that give this machine a name of their own. */
function isForUs(headers: Headers, publicOrigin: string | undefined): boolean {
  const host = headers.get('host')
  const origin = headers.get('origin')
  const isOurs = (text: string) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    return url !== undefined && (isLoopback(url) || url.origin === publicOrigin)
  }
  return (isOurs(`http://${host}`) || isOurs(`https://${host}`)) && (origin === null || isOurs(origin))
}

/** Refuses as the protocol does, for a request that no server of it has read. */
const refuse = (status: number, message: string) =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32_000, message } },
    { status, headers: status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {} },
  )

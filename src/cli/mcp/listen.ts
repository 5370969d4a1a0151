/** The tools over HTTP: a host names the API key of its agent with every request. */
import { openWebServer } from '#runtime/http/web-server'
import { isForUs, type ListenAt } from '../listen-address.ts'

/** An agent whose key the platform accepts. */
export type Agent = { answer(request: Request): Promise<Response> }

export type AgentRefusal = { status: number; message: string }

type HostServerOptions = ListenAt & {
  /** The origin that hosts use, where a proxy with https is before this command. */
  publicOrigin: string | undefined
  agentOf(apiKey: string): Promise<Agent | AgentRefusal>
}

const bearerPattern = /^Bearer +([\w:.-]{1,500})$/i

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

/** Refuses as the protocol does, for a request that no server of it has read. */
const refuse = (status: number, message: string) =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32_000, message } },
    { status, headers: status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {} },
  )

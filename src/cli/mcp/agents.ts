/** Agents of one command over HTTP, each with a key of its own. */
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { askServer, ServerAway } from '../ask-server.ts'
import type { Agent, AgentRefusal } from './listen.ts'

type KnownAgent = Agent & { acceptedUntilMs: number }

/** Agents that are remembered, with what they bought. */
const agentsMax = 1_000
/** Time after which the platform is asked again whether it accepts a key: a revoked one ends within a second there, too. */
const acceptedMs = 1_000

/**
 * Opens the agents of a server. `serverFor` returns what makes the server of one request, with all that is kept for its key; an
 * agent `mayAct` whose key is of the entity that has the secret. A key that the platform refuses is kept nowhere, so that guesses
 * take no room of others.
 */
export function openAgents(
  url: string,
  actingEntityId: string | undefined,
  serverFor: (apiKey: string, mayAct: boolean) => () => McpServer,
) {
  const known = new Map<string, KnownAgent>()
  return async (apiKey: string): Promise<Agent | AgentRefusal> => {
    const before = known.get(apiKey)
    if (before && performance.now() < before.acceptedUntilMs) return before
    const found = await entityOfKey(url, apiKey)
    if ('status' in found) {
      if (found.status !== 502) known.delete(apiKey)
      return found
    }
    const mayAct = found.id === actingEntityId
    const agent = known.get(apiKey) ?? openAgent(serverFor(apiKey, mayAct))
    agent.acceptedUntilMs = performance.now() + acceptedMs
    // The last is the one that was used last.
    known.delete(apiKey)
    known.set(apiKey, agent)
    if (known.size > agentsMax) known.delete(known.keys().next().value!)
    return agent
  }
}

/** Streams of changes may be open, though the tools do not change. */
const openAgent = (createServer: () => McpServer): KnownAgent => ({
  acceptedUntilMs: 0,
  answer: createMcpHandler(createServer, { maxSubscriptions: 4 }).fetch,
})

/** The entity of a key, or why the platform does not tell. */
export async function entityOfKey(url: string, apiKey: string): Promise<{ id: string } | AgentRefusal> {
  try {
    const { status, data, message } = await askServer(url, { path: '/v1/w3s/config/entity', apiKey })
    if (status < 400) return { id: (data as { appId: string }).appId }
    return { status, message: message ?? 'the platform refuses this API key' }
  } catch (error) {
    if (error instanceof ServerAway) return { status: 502, message: error.message }
    throw error
  }
}

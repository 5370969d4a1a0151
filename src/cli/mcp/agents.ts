/** Agents of one command over HTTP, each with a key of its own. */
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { askServer, ServerAway } from '../ask-server.ts'
import type { Agent, AgentRefusal } from './listen.ts'

/** Agents that are remembered, with what they bought. */
const agentsMax = 1_000

/**
 * Opens the agents of a server. `serverFor` returns what makes the server of one request, with all that is kept for its key. A key
 * that the platform refuses is kept nowhere, so that guesses take no room of others.
 */
export function openAgents(url: string, serverFor: (apiKey: string) => () => McpServer) {
  const known = new Map<string, Agent>()
  return async (apiKey: string): Promise<Agent | AgentRefusal> => {
    const refusal = known.has(apiKey) ? undefined : await refusalOf(url, apiKey)
    if (refusal) return refusal
    const agent = known.get(apiKey) ?? openAgent(serverFor(apiKey))
    // The last is the one that was used last.
    known.delete(apiKey)
    known.set(apiKey, agent)
    if (known.size > agentsMax) known.delete(known.keys().next().value!)
    return agent
  }
}

/** Streams of changes may be open, though the tools do not change. */
const openAgent = (createServer: () => McpServer): Agent => ({
  answer: createMcpHandler(createServer, { maxSubscriptions: 4 }).fetch,
})

async function refusalOf(url: string, apiKey: string): Promise<AgentRefusal | undefined> {
  try {
    const { status, message } = await askServer(url, { path: '/v1/w3s/config/entity', apiKey })
    if (status < 400) return undefined
    return { status, message: message ?? 'the platform refuses this API key' }
  } catch (error) {
    if (error instanceof ServerAway) return { status: 502, message: error.message }
    throw error
  }
}

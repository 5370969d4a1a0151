import { type AgentOptions, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'

type NameOptions = Parameters<HttpAgent['getName']>[0]

/** Options of a request to addresses that were checked. */
export type CheckedRequest = { checkedAddresses: readonly string[] }

/** Maximum idle connections, of all hosts and of one. Beyond it, the connection that is idle longest is closed. */
export const idleMax = 256
export const idleOfHostMax = 8
/** Shorter than the time for which servers usually keep an idle connection. */
const idleMs = 1_500

const options: AgentOptions = { keepAlive: true, timeout: idleMs, maxFreeSockets: idleOfHostMax }

/** Creates agents that keep connections for a moment, by the protocol of a URL. */
export function createAgents(): Record<string, HttpAgent> {
  const idle = new Set<Duplex>()
  return { 'http:': kept(new HttpAgent(options), idle), 'https:': kept(new HttpsAgent(options), idle) }
}

/**
 * Lets a connection serve requests to the same name and the same checked addresses only: a name may lead elsewhere by then.
 * `idle` has the idle connections, those that are idle longest first.
 */
function kept(agent: HttpAgent, idle: Set<Duplex>): HttpAgent {
  const nameOf = agent.getName.bind(agent)
  // The types say that nothing is returned; without `true` the agent closes the connection.
  const keepSocketAlive = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => unknown
  const reuseSocket = agent.reuseSocket.bind(agent)
  const close = function (this: Duplex) {
    this.destroy()
  }
  const forget = function (this: Duplex) {
    idle.delete(this)
  }
  return Object.assign(agent, {
    getName: (asked?: NameOptions) =>
      `${nameOf(asked)}:${(asked as NameOptions & CheckedRequest).checkedAddresses.toSorted().join()}`,
    keepSocketAlive: (socket: Duplex) => {
      if (!keepSocketAlive(socket)) return false
      const [oldest] = idle
      if (oldest && idle.size >= idleMax) {
        idle.delete(oldest)
        oldest.destroy()
      }
      idle.add(socket)
      socket.on('end', close).on('close', forget)
      return true
    },
    reuseSocket: (socket: Duplex, request: Parameters<typeof reuseSocket>[1]) => {
      idle.delete(socket)
      socket.off('end', close).off('close', forget)
      reuseSocket(socket, request)
    },
  })
}

import type { Hex } from '#lib/hex'
import type { RefusedEndpoint } from '../facets/endpoints.ts'
import type { BroadcastOutcome } from '../facets/payments.ts'
import type { Health } from './health.ts'

/** A client of one node. */
export type NodeClient = { host: string; close(): void }

export type NodeEndpoint<Node> = { node: Node; health: Health }

/** The words of an endpoint that has no block at a height. It contradicts no hash: the endpoint may lag. */
export const noSuchBlock = 'has no such block'

/** The questions that all nodes of a family are asked, and what their answers say about them. */
export type NodeRules<Node> = {
  /** Throws `NodeUnreachable` for a node of another chain. */
  checkIdentity(node: Node): Promise<void>
  /** The reason why an endpoint is not used, if there is one. Throws when it gives no answer: it may only be down. */
  inspect(node: Node): Promise<RefusedEndpoint | undefined>
  /** The height of its newest block. Throws for a node of another chain. */
  headOf(node: Node): Promise<number>
  /** The hash that it names at a height, or `noSuchBlock`, with its newest height. */
  voteOn(node: Node, number: number): Promise<{ said: string; head: number }>
  /** Sends signed transactions. Throws `NodeUnreachable` when the first of them has no trustworthy answer. */
  send(node: Node, raws: readonly Hex[]): Promise<BroadcastOutcome[]>
  /** Whether an error is a failure of the node rather than its answer: it backs off. */
  isFailure(error: unknown): boolean
  /** Whether another node may succeed. */
  isEndpointFault(error: unknown): boolean
}

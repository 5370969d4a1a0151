import type { FastifyReply } from 'fastify'
import type { RequestScope } from '#runtime/scope'
import type { Endpoint } from './endpoint.ts'
import type { Invocation } from './invoke.ts'

/** A request whose key and members were checked, before its operation runs. */
type ValidRequest = {
  method: Endpoint['method']
  /** The documented path. */
  path: string
  ctx: RequestScope
  body: Readonly<Record<string, unknown>>
  reply: FastifyReply
}

/**
 * Runs in place of an operation, and may run it. Resolves to the result to send, or to nothing when the reply was sent or cut. Only
 * a sandbox has one.
 */
export type InterceptRequest = (
  request: ValidRequest,
  invoke: () => Promise<Invocation>,
) => Promise<Invocation | undefined>

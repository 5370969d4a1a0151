/**
 * Node's server, which answers the requests of one connection one after another. A client may send many before it has an answer
 * (pipelining), and the parser hands over all that one packet holds: hundreds of them, before any other connection has a turn.
 */
import {
  createServer as createPlain,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { Socket } from 'node:net'
import type { Config } from '#runtime/config'

/** Time limits for the headers and for the whole request; the connection is closed after either, and when it is idle. */
const headersMaxMs = 5_000
const requestMaxMs = 15_000
const silenceMaxMs = 60_000
const keepAliveMs = 72_000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server that answers https where the configuration has a certificate. */
export function newListener({ tls }: Config, handler: Handler): Server {
  const limits = { headersTimeout: headersMaxMs, connectionsCheckingInterval: 1_000 }
  const answer = inTurn(handler)
  const server = tls
    ? createSecure({ ...limits, ...tls, handshakeTimeout: headersMaxMs }, answer)
    : createPlain(limits, answer)
  server.keepAliveTimeout = keepAliveMs
  server.requestTimeout = requestMaxMs
  server.setTimeout(silenceMaxMs)
  return server
}

/** Requests of a connection that may wait for the answers of earlier ones. Clients that pipeline at all send fewer. */
const waitingMax = 32

function inTurn(handler: Handler): Handler {
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>()
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    response.once('close', () => {
      const next = waiting.get(socket)?.shift()
      if (!next) return void waiting.delete(socket)
      // Other connections come first.
      setImmediate(() => !socket.destroyed && serve(...next))
    })
    handler(request, response)
  }
  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
    const queue = waiting.get(socket)
    if (!queue) {
      waiting.set(socket, [])
      serve(request, response)
    } else if (queue.length < waitingMax) queue.push([request, response])
    else socket.destroy()
  }
}

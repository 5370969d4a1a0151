/** A server of one path whose answers are made from requests as the web has them, for libraries that take those. */
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'

type WebServerOptions = {
  host: string
  port: number
  path: string
  bodyBytesMax: number
  /** How long a connection may be silent, which is how long an answer may take. */
  silenceMaxMs: number
  answer(request: Request): Promise<Response>
  /** The answer to what reaches no handler, and to errors of one. */
  refuse(status: number, message: string): Response
}

/** Listens until it is closed. Throws the error of the system where it cannot listen. */
export async function openWebServer(options: WebServerOptions): Promise<FastifyInstance> {
  const { path, answer, refuse } = options
  const server = fastify({
    bodyLimit: options.bodyBytesMax,
    requestTimeout: 15_000,
    forceCloseConnections: true,
    logger: false,
  })
  server.server.setTimeout(options.silenceMaxMs)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body))
  server.setNotFoundHandler((_, reply) => reply.send(refuse(404, `there is nothing but ${path}`)))
  server.setErrorHandler<Error & { statusCode?: number }>(({ message, statusCode = 500 }, _, reply) =>
    reply.send(refuse(statusCode, statusCode < 500 ? message : 'the server failed: repeat the request')),
  )
  server.all(path, async (request, reply) => reply.send(await answer(webRequestOf(request))))
  await server.listen({ host: options.host, port: options.port })
  return server
}

function webRequestOf({ method, url, headers, body }: FastifyRequest): Request {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  const init = typeof body === 'string' ? { method, headers: given, body } : { method, headers: given }
  return new Request(new URL(url, 'http://localhost'), init)
}

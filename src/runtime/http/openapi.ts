import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { version } from '#runtime/version'

/** Describes every route registered after this call at `/openapi.json`; `/docs` shows it without any outside request. */
export async function registerOpenApi(
  server: FastifyInstance,
  baseUrl: () => string | undefined,
): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.0.3',
      info: {
        title: 'Bezant',
        version,
        description:
          'Deposits, wallets and on-chain transactions of a stablecoin platform that you run yourself. Compatible with, and not affiliated with, the interface of the Circle APIs.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as never,
      },
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'PREFIX:ID:SECRET' } },
      },
    },
  })
  await server.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', deepLinking: true, persistAuthorization: true },
    theme: {
      title: 'Bezant API',
      // Hidden, because the bar names another project and loads any document that the URL names.
      css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }],
    },
    uiHooks: {
      preHandler: (request, reply, done) => {
        if (request.url === '/docs/json') return sendDocument(reply, forReferencePage())
        done()
      },
    },
  })
  // Cached: these documents are public, and serializing one takes milliseconds.
  const document = onFirstCall(() => JSON.stringify(server.swagger()))
  const forReferencePage = onFirstCall(() =>
    JSON.stringify({ ...server.swagger(), servers: [{ url: baseUrl() ?? '/' }] }),
  )
  const schema = { hide: true } as object
  server.get('/openapi.json', { schema }, (_, reply) => sendDocument(reply, document()))
}

const sendDocument = (reply: FastifyReply, document: string) =>
  void reply.type('application/json; charset=utf-8').send(document)

/** Keeps the result of the first call of `make`. */
function onFirstCall(make: () => string): () => string {
  let made: string | undefined
  return () => (made ??= make())
}

import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { oncePer } from '#lib/once'
import { type DocumentInput, type Introduction, openApiDocument } from './openapi/document.ts'

export type ReferencePage = {
  introduction: Introduction
  /** A public key with which the page sends its requests: that of a sandbox. */
  tryOutKey?: string | undefined
}

type ReferenceInput = ReferencePage & Pick<DocumentInput, 'endpoints'> & { baseUrl: () => string | undefined }

/** Serves the description of the API at `/openapi.json`; `/docs` shows it without any outside request. */
export async function registerReferencePage(server: FastifyInstance, input: ReferenceInput): Promise<void> {
  // Written on first use: that takes milliseconds, and the base address is known once the server listens.
  const document = { openapi: '3.0.3' }
  const textOf = oncePer((page: ReferenceInput) => {
    Object.assign(document, openApiDocument({ ...page, servers: [{ url: page.baseUrl() ?? '/' }] }))
    return JSON.stringify(document)
  })
  await server.register(swagger, { mode: 'static', specification: { document: document as never } })
  await server.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: {
      docExpansion: 'list',
      deepLinking: true,
      persistAuthorization: true,
      ...(input.tryOutKey && { tryOutKey: input.tryOutKey, onComplete: authorize }),
    },
    theme: {
      title: 'Bezant API',
      // Hidden, because the bar names another project and loads any document that the URL names.
      css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }],
    },
    uiHooks: {
      preHandler: (request, reply, done) => {
        const json = textOf(input)
        if (request.url === '/docs/json') return sendDocument(reply, json)
        done()
      },
    },
  })
  server.get('/openapi.json', (_, reply) => sendDocument(reply, textOf(input)))
}

/** Variables of the script of the page, into which the text of `authorize` is written. */
declare const ui: { preauthorizeApiKey(scheme: string, key: string): void }
declare const config: { tryOutKey: string }
const authorize = () => ui.preauthorizeApiKey('apiKey', config.tryOutKey)

const sendDocument = (reply: FastifyReply, document: string) =>
  void reply.type('application/json; charset=utf-8').send(document)

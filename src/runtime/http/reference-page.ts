import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { type KeptFile, keepFile, sendKept } from './kept-file.ts'
import { type DocumentInput, type Introduction, openApiDocument } from './openapi/document.ts'

export type ReferencePage = {
  introduction: Introduction
  /** A public key with which the page sends its requests, and that documents show: the one of a sandbox. */
  tryOutKey?: string | undefined
}

/** The address of the page. */
const root = '/docs/reference'

type ReferenceInput = ReferencePage & Pick<DocumentInput, 'endpoints'> & { baseUrl: () => string | undefined }

/** Serves the description of the API at `/openapi.json` and below `/docs`; `/docs/reference` shows it without any outside request. */
export async function registerReferencePage(server: FastifyInstance, input: ReferenceInput): Promise<void> {
  // Written on first use: that takes milliseconds, and the base address is known once the server listens.
  const document = { openapi: '3.0.3' }
  const written = succeedOnce(async () => {
    Object.assign(document, openApiDocument({ ...input, servers: [{ url: input.baseUrl() ?? '/' }] }))
    return keepFile('application/json; charset=utf-8', JSON.stringify(document))
  })
  const asYaml = succeedOnce(async () => {
    await written()
    return keepFile('application/x-yaml', server.swagger({ yaml: true }))
  })
  // The page reads the description below its own address.
  keepAnswers(server, new Map([...(await pageFiles()), [`${root}/json`, written], [`${root}/yaml`, asYaml]]))
  await server.register(swagger, { mode: 'static', specification: { document: document as never } })
  await server.register(swaggerUi, {
    routePrefix: root,
    uiConfig: {
      // Every click draws all operations that are shown, and showing all takes a browser four times as long.
      docExpansion: 'none',
      deepLinking: true,
      persistAuthorization: true,
      ...(input.tryOutKey && {
        tryOutKey: input.tryOutKey,
        onComplete: authorize,
        requestInterceptor: encrypt,
      }),
    },
    theme: {
      title: 'Bezant API',
      // Hidden, because the bar names another project and loads any document that the URL names.
      css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }],
    },
  })
  for (const [path, describe] of [
    ['/openapi.json', written],
    ['/docs/json', written],
    ['/docs/yaml', asYaml],
  ] as const)
    server.get(path, async (request, reply) => sendKept(request, reply, await describe()))
}

type Answers = Map<string, () => Promise<KeptFile>>

/** Answers these paths from memory, before the plugin that has routes for them renders or reads anything. */
function keepAnswers(server: FastifyInstance, answers: Answers): void {
  server.addHook('preHandler', async (request, reply) => {
    if (!request.url.startsWith(`${root}/`)) return
    const file = answers.get(request.url.split('?')[0]!)
    if (file) return sendKept(request, reply, await file())
  })
}

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

/** The scripts and styles of the page, each read and compressed when it is first asked for. */
async function pageFiles(): Promise<Answers> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static')
  const names = (await readdir(folder)).filter((name) => types[extname(name)])
  return new Map(
    names.map((name) => [
      `${root}/static/${name}`,
      succeedOnce(async () => keepFile(types[extname(name)]!, await readFile(join(folder, name)))),
    ]),
  )
}

/** Variables of the script of the page, into which the text of `authorize` is written. */
declare const ui: { preauthorizeApiKey(scheme: string, key: string): void }
declare const config: { tryOutKey: string }
const authorize = () => ui.preauthorizeApiKey('apiKey', config.tryOutKey)

type TriedRequest = { body?: unknown }

/**
 * Replaces the example of a ciphertext by one that the sandbox makes, since a person cannot write one. The text of this
 * function is written into the page too, so it names nothing else of this file.
 */
const encrypt = async (request: TriedRequest) => {
  if (typeof request.body !== 'string' || !request.body.includes('"entitySecretCiphertext"')) return request
  const body = JSON.parse(request.body)
  // A ciphertext that the reader pasted is longer.
  if (String(body.entitySecretCiphertext).length > 500) return request
  const { data } = await fetch('/sandbox/ciphertext').then(
    (answer) => answer.json() as Promise<{ data: object }>,
  )
  request.body = JSON.stringify({ ...body, ...data })
  return request
}

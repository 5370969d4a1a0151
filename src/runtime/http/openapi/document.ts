import { version } from '#runtime/version'
import type { Endpoint } from '../endpoint.ts'
import { noComponents, sorted } from './components.ts'
import { operationOf } from './operation.ts'

/** The text of a reference that no single operation has. */
export type Introduction = {
  /** Markdown. */
  text: string
  /** The groups of operations, in their order. */
  tags: readonly { name: string; description: string }[]
}

export type DocumentInput = {
  endpoints: readonly Endpoint<never>[]
  introduction: Introduction
  servers: readonly { url: string; description?: string }[]
}

/** Describes all operations as OpenAPI 3.0, the newest version that all common generators of clients read. */
export function openApiDocument({ endpoints, introduction, servers }: DocumentInput): object {
  const components = noComponents()
  const paths: Record<string, Record<string, object>> = {}
  for (const endpoint of endpoints) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operationOf(endpoint, components),
    }
  }
  const used = new Set(endpoints.map(({ tag }) => tag))
  return {
    openapi: '3.0.3',
    info: {
      title: 'Bezant',
      version,
      description: introduction.text,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers,
    tags: introduction.tags.filter(({ name }) => used.has(name)),
    paths,
    components: { securitySchemes: { apiKey, clientKey, member }, ...sorted(components) },
  }
}

const apiKey = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'PREFIX:ID:SECRET',
  description:
    'An API key, such as `TEST_API_KEY:ID:SECRET`. Operations of the operator need a key with the scope `operator:read`.',
}

const member = {
  type: 'apiKey',
  in: 'cookie',
  name: '__Host-bezant',
  description:
    'The session of a member, as `POST /operator/session` begins it. Pages of the console send it with the header `X-Bezant-Console`, in place of an API key.',
}

const clientKey = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'PREFIX:ID:SECRET',
  description: 'A client key, such as `TEST_CLIENT_KEY:ID:SECRET`, which a page may hold.',
}

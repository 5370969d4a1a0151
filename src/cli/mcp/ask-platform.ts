import { type Platform, ToolProblem } from '#api/mcp/tool'
import { encryptEntitySecret } from '#sandbox/ciphertext-endpoint'
import { askServer, ServerAway } from '../ask-server.ts'

export type PlatformAccess = {
  url: string
  apiKey: string
  /** Where the tools may act. */
  entitySecret: string | undefined
}

/** The platform at an address, as the tool of this name asks it. */
export function askPlatform(access: PlatformAccess, toolName: string): Platform {
  const { url, apiKey, entitySecret } = access
  const headers = { 'x-bezant-tool': toolName }
  const ask: Platform = async <Data>({ method, path, query, body, needsSecret }: Parameters<Platform>[0]) => {
    const sealed = needsSecret && { entitySecretCiphertext: await ciphertext() }
    const asked = {
      method,
      path: path + queryText(query),
      apiKey,
      body: body && { ...body, ...sealed },
      headers,
    }
    const { status, data, message, next } = await askServer(url, asked).catch((error: Error) => {
      throw error instanceof ServerAway ? new ToolProblem(error.message) : error
    })
    if (status >= 400) throw new ToolProblem(message ?? `the server refuses the API key with ${status}`)
    return {
      data: data as Data,
      pageAfter: next && (new URL(next).searchParams.get('pageAfter') ?? undefined),
    }
  }
  /** A ciphertext works once, and the secret itself leaves this process nowhere. */
  const ciphertext = async () => {
    if (entitySecret === undefined) throw new Error('a tool acts without the entity secret')
    const path = '/v1/w3s/config/entity/publicKey'
    const { publicKey } = (await ask<{ publicKey: string }>({ method: 'GET', path })).data
    return encryptEntitySecret(publicKey, entitySecret)
  }
  return ask
}

function queryText(query: Parameters<Platform>[0]['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? '' : `?${parameters}`
}

/** Whether the server is a sandbox, which says so itself. */
export const isSandbox = async ({ url, apiKey }: PlatformAccess): Promise<boolean> =>
  (await askServer(url, { path: '/sandbox', apiKey }).catch(() => undefined))?.status === 200

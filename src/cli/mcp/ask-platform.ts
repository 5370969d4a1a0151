import { type Platform, ToolProblem } from '#api/mcp/tool'
import { askServer, ServerAway } from '../ask-server.ts'

type PlatformAccess = { url: string; apiKey: string }

/** The platform at an address, as the tool of this name asks it. */
export const askPlatform =
  ({ url, apiKey }: PlatformAccess, toolName: string): Platform =>
  async <Data>({ method, path, query, body }: Parameters<Platform>[0]) => {
    const asked = { method, path: path + queryText(query), apiKey, body, headers: headersOf(toolName) }
    const { status, data, message, next } = await askServer(url, asked).catch((error: Error) => {
      throw error instanceof ServerAway ? new ToolProblem(error.message) : error
    })
    if (status >= 400) throw new ToolProblem(message ?? `the server refuses the API key with ${status}`)
    return {
      data: data as Data,
      pageAfter: next && (new URL(next).searchParams.get('pageAfter') ?? undefined),
    }
  }

const headersOf = (toolName: string) => ({ 'user-agent': `bezant-mcp (${toolName})` })

function queryText(query: Parameters<Platform>[0]['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? '' : `?${parameters}`
}

import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { insertApiKey } from '#runtime/auth/store'
import type { Harness } from '#testing/platform/harness'
import { programFile } from './programs.ts'

export type ToolClient = {
  toolNames(): Promise<string[]>
  /** Calls a tool that must succeed, and returns its result. */
  // biome-ignore lint/suspicious/noExplicitAny: every tool has its own result
  call(name: string, input?: Record<string, unknown>): Promise<any>
  /** Calls a tool that must refuse, and returns the reason. */
  refusal(name: string, input?: Record<string, unknown>): Promise<string>
  /** All that the command wrote to its standard error. */
  stderr(): string
  client: Client
  close(): Promise<void>
}

/** Makes a key for an agent, and the environment of its command. */
export async function newAgent(harness: Harness) {
  const own = { entityId: harness.entityId, environment: 'TEST', nowMs: Date.now() } as const
  const { id, text } = await insertApiKey(harness.database, own)
  const env = {
    BEZANT_URL: harness.url,
    BEZANT_API_KEY: text,
    BEZANT_ENTITY_SECRET: harness.entitySecret,
  }
  return { id, env }
}

/** Starts `bezant mcp` as a host of agents does, and speaks with it by the published client. */
export async function openTools(
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<ToolClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [await programFile('bezant'), 'mcp', ...args],
    env,
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return connectTools(transport, () => stderr)
}

/** Speaks over HTTP with a command that listens at this address, as the host of an agent with this key. */
export const openToolsAt = (url: string, apiKey: string): Promise<ToolClient> =>
  connectTools(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
    }),
  )

async function connectTools(transport: Transport, stderr = () => ''): Promise<ToolClient> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  const answered = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: input })
    const [first] = content
    return { text: first?.type === 'text' ? first.text : '', isError }
  }
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input) => {
      const { text, isError } = await answered(name, input)
      if (isError) throw new Error(`${name}: ${text}`)
      return JSON.parse(text)
    },
    refusal: async (name, input) => {
      const { text, isError } = await answered(name, input)
      if (!isError) throw new Error(`${name} did not refuse: ${text}`)
      return text
    },
    stderr,
    client,
    close: () => client.close(),
  }
}

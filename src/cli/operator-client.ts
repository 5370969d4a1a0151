import { commandKeyOf } from '#runtime/config'
import { sandboxApiKey } from '#sandbox/credentials'
import { askServer, ServerAway } from './ask-server.ts'
import type { ParsedArgs } from './command.ts'
import { serverAddress } from './server-address.ts'

/** An answer of the API: the content of `data`, and the address of the next page. */
type OperatorAnswer<Data> = { data: Data; next: string | undefined }

type OperatorRequest = { method?: 'GET' | 'POST'; path: string; body?: object }

/** Asks the operator API; throws one line with the remedy. */
export async function askAsOperator<Data>(
  args: ParsedArgs,
  request: OperatorRequest,
): Promise<OperatorAnswer<Data>> {
  const url = serverAddress(args, 'server')
  const apiKey = commandKeyOf() ?? sandboxApiKey
  const { status, data, message, next } = await askServer(url, { ...request, apiKey })
  if (status < 400) return { data: data as Data, next }
  throw refusalOf(url, request, status, message)
}

function refusalOf(
  url: string,
  { method = 'GET' }: OperatorRequest,
  status: number,
  message: string | undefined,
): Error {
  // A policy refuses with 403 too, and says so.
  if (status === 401 || (status === 403 && (message === undefined || message.startsWith('Forbidden'))))
    return new Error(
      `the server at ${url} refuses the API key: set BEZANT_API_KEY to one of bezant keys create --scope operator:${method === 'GET' ? 'read' : 'write'}`,
    )
  return status >= 500 || status === 429 ? new ServerAway(message) : new Error(message)
}

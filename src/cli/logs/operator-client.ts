import { commandKeyOf } from '#runtime/config'
import { sandboxApiKey } from '#sandbox/credentials'
import { askServer, ServerAway } from '../ask-server.ts'
import type { ParsedArgs } from '../command.ts'
import { serverAddress } from '../server-address.ts'

/** An answer of the API: the content of `data`, and the address of the next page. */
type OperatorAnswer<Data> = { data: Data; next: string | undefined }

/** Reads from the operator API; throws one line with the remedy. */
export async function readAsOperator<Data>(args: ParsedArgs, path: string): Promise<OperatorAnswer<Data>> {
  const url = serverAddress(args, 'server')
  const apiKey = commandKeyOf() ?? sandboxApiKey
  const { status, data, message, next } = await askServer(url, { path, apiKey })
  if (status < 400) return { data: data as Data, next }
  throw refusalOf(url, status, message)
}

function refusalOf(url: string, status: number, message: string | undefined): Error {
  if (status === 401 || status === 403)
    return new Error(
      `the server at ${url} refuses the API key: set BEZANT_API_KEY to one of bezant keys create --scope operator:read`,
    )
  return status >= 500 || status === 429 ? new ServerAway(message) : new Error(message)
}

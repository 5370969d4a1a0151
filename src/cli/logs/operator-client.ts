import { commandKeyOf } from '#runtime/config'
import { sandboxApiKey } from '#sandbox/credentials'
import type { Option, ParsedArgs } from '../command.ts'
import { serverAddress } from '../server-address.ts'

/** The options of commands that ask a running server as an operator. */
export const serverOptions: Record<string, Option> = {
  url: {
    type: 'string',
    value: 'URL',
    about: 'Address of the server; BEZANT_URL sets it too.',
    default: 'http://127.0.0.1:4020',
  },
}

/** An answer of the API: the content of `data`, and the address of the next page. */
type OperatorAnswer<Data> = { data: Data; next: string | undefined }

/** A server that does not answer, in contrast to one that refuses. */
export class ServerAway extends Error {}

/** Reads from the operator API; throws one line with the remedy. */
export async function readAsOperator<Data>(args: ParsedArgs, path: string): Promise<OperatorAnswer<Data>> {
  const url = serverAddress(args, 'server')
  const headers = { authorization: `Bearer ${commandKeyOf() ?? sandboxApiKey}` }
  const address = path.startsWith('/') ? url + path : path
  const response = await fetch(address, { headers, signal: AbortSignal.timeout(30_000) }).catch(away(url))
  const answer = (await response.json().catch(() => ({}))) as { data?: Data; code?: number; message?: string }
  if (response.ok && answer.data !== undefined) return { data: answer.data, next: nextOf(url, response) }
  throw refusalOf(url, response.status, answer.message)
}

/** The next page, at the address of the server that this command uses. */
function nextOf(url: string, { headers }: Response): string | undefined {
  const link = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  return link === undefined ? undefined : url + link.replace(/^https?:\/\/[^/]+/, '')
}

const away = (url: string) => (error: unknown) => {
  const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException }
  const remedy = 'start one with bezant sandbox or bezant serve, or give its address with --url'
  throw new ServerAway(`no server answers at ${url} (${cause?.code ?? name}): ${remedy}`)
}

function refusalOf(url: string, status: number, message: string | undefined): Error {
  if (status === 401 || status === 403)
    return new Error(
      `the server at ${url} refuses the API key: set BEZANT_API_KEY to one of bezant keys create --scope operator:read`,
    )
  if (message === undefined)
    return new Error(
      `the server that answers at ${url} with ${status} is not Bezant: give its address with --url`,
    )
  return status >= 500 || status === 429 ? new ServerAway(message) : new Error(message)
}

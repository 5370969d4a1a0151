import { type ErrorName, errorKinds } from '#lib/error-kinds'
import { ApiError } from '#lib/errors'
import { readId } from './schema.ts'

/** Shows an error as JSON-RPC does; `undefined` for those of HTTP, such as a missing key or a body that is too large. */
export function showRpcError(error: ApiError, body: unknown): object | undefined {
  const shown = error.kind === 'invalidRequest' ? asRequestError(error, body) : error
  if (shown.status !== 200) return undefined
  const id = readId((body as { id?: unknown } | undefined)?.id) ?? null
  const { code, message, data } = shown
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } }
}

function asRequestError({ message }: ApiError, body: unknown): ApiError {
  const kind: ErrorName = body === undefined ? 'rpcBodyNotJson' : 'rpcRequestInvalid'
  const reason = Array.isArray(body)
    ? 'A batch is not accepted: send each request by itself.'
    : message.replace(errorKinds.invalidRequest.text, '').trim()
  return new ApiError(kind, `${errorKinds[kind].text} ${reason}`)
}

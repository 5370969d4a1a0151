import type { TSchema } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { ApiError, ended, invalid } from '#lib/errors'
import { checkOf } from '#runtime/http/validate'
import { type RpcBody, readId } from './schema.ts'

type RpcReply = { result: unknown } | { error: { code: number; message: string; data?: unknown } }

/** One method of a JSON-RPC endpoint. `Place` is what the path of the endpoint names, such as its chain. */
export type RpcMethod<Place = undefined> = (
  ctx: Ctx,
  params: readonly unknown[],
  place: Place,
) => Promise<RpcReply>

export type RpcMethods<Place = undefined> = Readonly<Record<string, RpcMethod<Place>>>

/** Answers one request with the method that it names. */
export async function answerCall<Place>(
  ctx: Ctx,
  methods: RpcMethods<Place>,
  { id: given, method, params = [] }: RpcBody,
  place: Place,
): Promise<object> {
  const id = readId(given)
  if (id === undefined)
    throw invalid({
      at: 'id',
      reason: 'must be a text of at most 200 characters, a whole number or null',
      value: given,
      kind: 'rpcRequestInvalid',
    })
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (!run) {
    const known = Object.keys(methods).join(', ')
    throw invalid({
      at: 'method',
      reason: `is not one of this endpoint: ${known}`,
      value: method,
      kind: 'rpcMethodUnknown',
    })
  }
  return { jsonrpc: '2.0', id, ...(await run(ctx, params, place)) }
}

/** A method whose parameters, a tuple, are checked before it runs. */
export function checked<Params, Place = unknown>(
  schema: TSchema,
  run: (ctx: Ctx, params: Params, place: Place) => Promise<unknown>,
): RpcMethod<Place> {
  const check = checkOf({ type: 'object', properties: { params: schema } }, 'body')
  return async (ctx, params, place) => {
    try {
      check({ params })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw badParams(error.fields.map(({ message }) => message).join('; '))
    }
    return { result: await run(ctx, params as Params, place) }
  }
}

export const badParams = (reason: string) =>
  new ApiError('rpcParamsInvalid', `Invalid params: ${ended(reason)}`)

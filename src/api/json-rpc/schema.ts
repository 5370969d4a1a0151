import Type, { type Static } from 'typebox'

const versionField = Type.Enum(['2.0'], { description: 'The version of the protocol.' })

export const rpcBody = Type.Object(
  {
    jsonrpc: versionField,
    id: Type.Optional(
      Type.Unknown({
        description: 'A text or whole number of your choice, or null, which the answer repeats.',
      }),
    ),
    method: Type.String({ minLength: 1, maxLength: 100, description: 'The method.' }),
    params: Type.Optional(
      Type.Array(Type.Unknown(), {
        maxItems: 10,
        description: 'The parameters of the method, in their order.',
      }),
    ),
  },
  { title: 'JsonRpcRequest', description: 'One request of JSON-RPC 2.0. A batch is refused.' },
)
export type RpcBody = Static<typeof rpcBody>

/** The id of a request; `undefined` for one that no answer can repeat. */
export function readId(id: unknown = null): string | number | null | undefined {
  const isId = typeof id === 'string' ? id.length <= 200 : id === null || Number.isSafeInteger(id)
  return isId ? (id as string | number | null) : undefined
}

export const rpcAnswer = Type.Object(
  {
    jsonrpc: versionField,
    id: Type.Unknown({ description: 'The id of the request, or null where it has none.' }),
    result: Type.Optional(Type.Unknown({ description: 'The result of the method; absent after an error.' })),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Integer({ description: 'The code of the error, to branch on.' }),
          message: Type.String({ description: 'The error in English.' }),
          data: Type.Optional(
            Type.Unknown({
              description:
                'The bytes that a reverted call returned. For a user operation an object, with these bytes as `revertData`, or with the `paymaster` that failed.',
            }),
          ),
        },
        { title: 'JsonRpcError', description: 'The error of a request that failed.' },
      ),
    ),
  },
  { title: 'JsonRpcResponse', description: 'The answer: a result or an error.' },
)

export const chainParams = Type.Object({
  chain: Type.String({ maxLength: 100, description: 'The chain, such as baseSepolia.' }),
})

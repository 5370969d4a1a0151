import Type, { type Static } from 'typebox'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'

const chainSchema = Type.Object({
  blockchain: Type.String(),
  chainId: Type.Integer(),
  rpcUrl: Type.String(),
  tokens: Type.Object({ USDC: Type.String(), EURC: Type.String() }),
})

/** The data that a developer needs to use a running sandbox; printed as one line with `--json`. */
export const sandboxAnswerSchema = Type.Object({
  url: Type.String(),
  apiKey: Type.String(),
  entitySecret: Type.String(),
  console: Type.String(),
  docs: Type.String(),
  chains: Type.Array(chainSchema),
})

export type SandboxAnswer = Static<typeof sandboxAnswerSchema>

/** The message of a sandbox for requests without a valid key. */
export const refusal =
  'This sandbox does not know the API key, or there is none: GET /sandbox shows the one it has. Send "Authorization: Bearer <API key>".'

/** Operations that only a sandbox has. Its credentials are public, so they are returned without authorization. */
export const sandboxEndpoints = (answer: () => SandboxAnswer): readonly Endpoint<never>[] => [
  endpoint<RequestScope>({
    method: 'GET',
    path: '/sandbox',
    operationId: 'getSandbox',
    summary: 'Tells the address, the public credentials and the chains of this sandbox',
    tag: 'Sandbox',
    auth: 'none',
    response: sandboxAnswerSchema,
    errors: [],
    verb: async () => answer(),
  }) as Endpoint<never>,
]

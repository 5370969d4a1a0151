import Type, { type Static } from 'typebox'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'

const text = (description: string) => Type.String({ description })

const chainSchema = Type.Object(
  {
    blockchain: text('The blockchain.'),
    chainId: Type.Integer({ description: 'The chain id.' }),
    rpcUrl: text('The address of the node.'),
    tokens: Type.Object(
      { USDC: text('The contract of USDC.'), EURC: text('The contract of EURC.') },
      { description: 'The contracts of the stablecoins.' },
    ),
    isSimulated: Type.Optional(
      Type.Boolean({
        description:
          'True where the sandbox simulates the node, because none of the network can be installed.',
      }),
    ),
  },
  { title: 'SandboxChain', description: 'A local chain.' },
)

/** The data that a developer needs to use a running sandbox; printed as one line with `--json`. */
const sandboxAnswerSchema = Type.Object(
  {
    url: text('The base address of the API.'),
    apiKey: text('The API key, which is public.'),
    clientKey: text('The client key, which is public.'),
    entitySecret: text('The entity secret, which is public.'),
    console: text('The address of the console.'),
    docs: text('The address of the documents, beside which `/docs/reference` describes the API.'),
    challengeUrl: text('The origin of the page of users: `serviceUrl` of the browser client.'),
    certificate: Type.Optional(
      text('With --tls: the file of the certificate that clients on this machine have to trust.'),
    ),
    chains: Type.Array(chainSchema, { description: 'The chains of the sandbox.' }),
  },
  { title: 'Sandbox', description: 'The data to use the sandbox with.' },
)

export type SandboxAnswer = Static<typeof sandboxAnswerSchema>

/** The message of a sandbox for requests without a valid key. */
export const refusal =
  'This sandbox does not know the key, or there is none: GET /sandbox shows its API key, and its client key for pages. Send "Authorization: Bearer <key>".'

/** Operations that only a sandbox has. Its credentials are public, so they are returned without authorization. */
export const sandboxEndpoints = (answer: () => SandboxAnswer): readonly Endpoint<never>[] => [
  endpoint<RequestScope>({
    method: 'GET',
    path: '/sandbox',
    operationId: 'getSandbox',
    summary: 'Get the sandbox',
    description: 'Returns the address, the public credentials and the chains of this sandbox.',
    tag: 'Sandbox',
    auth: 'none',
    response: sandboxAnswerSchema,
    errors: [],
    verb: async () => answer(),
  }) as Endpoint<never>,
]

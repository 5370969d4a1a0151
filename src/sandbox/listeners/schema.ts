import Type, { type Static } from 'typebox'
import { idField } from '#api/fields'

const optional = Type.Optional
const text = (description: string) => Type.String({ description })

export const listenerParams = Type.Object({
  id: Type.String({
    pattern: '^[a-z0-9-]{1,64}$',
    '~remedy': 'use 1 to 64 of a-z, 0-9 and hyphens',
    description: 'The name of a listener: 1 to 64 of a-z, 0-9 and the hyphen.',
  }),
})

export const openListenerBody = Type.Object(
  {
    line: optional(
      Type.Enum(['v1', 'v2', 'both'], {
        description: 'v1 notifies of the business account, v2 of wallets. Default: both.',
      }),
    ),
    topics: optional(
      Type.Array(Type.String({ maxLength: 100, description: 'A topic, or a group such as transactions.*' }), {
        minItems: 1,
        maxItems: 100,
        description: 'The topics to pass on, such as payments or transactions.*. Default: all.',
      }),
    ),
  },
  {
    title: 'OpenListenerRequest',
    description: 'What a client listens to.',
    examples: [{ line: 'both', topics: ['payments', 'transactions.*'] }],
  },
)
export type OpenListenerBody = Static<typeof openListenerBody>

export const openListenerSchema = Type.Object(
  {
    id: text('The name.'),
    session: idField('The session, which reads the stream and ends when another one is opened and read.'),
    subscriptions: Type.Array(
      Type.Object(
        {
          id: idField('The id of the subscription.'),
          line: Type.Enum(['v1', 'v2'], { description: 'The line.' }),
          endpoint: text('The address of the listener.'),
          isConfirmed: Type.Boolean({
            description:
              'Whether it receives everything from now on; false when a v1 confirmation takes long.',
          }),
        },
        { title: 'ListenerSubscription', description: 'A subscription of a listener.' },
      ),
      { description: 'The subscriptions, one of each line.' },
    ),
  },
  { title: 'OpenListener', description: 'An opened listener.' },
)

export const listenersSchema = Type.Array(
  Type.Object(
    {
      id: text('The name.'),
      isConnected: Type.Boolean({ description: 'Whether a client reads its stream.' }),
      waitingCount: Type.Integer({ description: 'The number of deliveries that wait for an answer.' }),
    },
    { title: 'Listener', description: 'A listener.' },
  ),
  { description: 'The listeners since the start of the sandbox.' },
)

export const sessionQuery = Type.Object({ session: idField('The session that POST returned.') })

const bodyMax = 16_384

export const answerBody = Type.Object(
  {
    deliveryId: idField('The id of the delivery, as the stream named it.'),
    status: optional(
      Type.Integer({ minimum: 200, maximum: 599, description: 'The status of the answer; without `error`.' }),
    ),
    headers: optional(
      Type.Record(Type.String({ maxLength: 300 }), Type.String({ maxLength: 8_192 }), {
        description: 'The headers of the answer.',
      }),
    ),
    body: optional(Type.String({ maxLength: bodyMax, description: 'The beginning of the answer.' })),
    error: optional(
      Type.String({
        maxLength: 1_000,
        description: 'Why there is no answer; it becomes an attempt with 502.',
      }),
    ),
  },
  {
    title: 'ListenerAnswerRequest',
    description: 'The answer of the endpoint that a delivery was passed on to.',
    examples: [{ deliveryId: '6ecd8e70-252d-5a92-8aaa-c9bb0ad1a5a1', status: 200, body: 'ok' }],
  },
)
export type AnswerBody = Static<typeof answerBody>

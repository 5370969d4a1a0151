import Type, { type Static } from 'typebox'
import { dateField, idField } from '#api/fields'
import { notificationTypes } from '#engines/webhooks/index'
import { waitText } from '../arrivals.ts'

const optional = Type.Optional
const text = (description: string) => Type.String({ description })
const count = (description: string) => Type.Integer({ description })

const inboxField = Type.String({
  pattern: '^[a-z0-9-]{1,64}$',
  '~remedy': 'use 1 to 64 of a-z, 0-9 and hyphens',
  description: 'The name of an inbox: 1 to 64 of a-z, 0-9 and the hyphen. It is made on its first use.',
})
export const inboxParams = Type.Object({ inbox: inboxField })
export const caughtMessageParams = Type.Object({ inbox: inboxField, id: idField('The id of the message.') })

const statusField = (description: string) => Type.Integer({ minimum: 200, maximum: 599, description })

export const behaviourBody = Type.Object(
  {
    status: optional(statusField('The status of every answer. Default 200.')),
    delay: optional(text('The time that each answer waits, as a duration from PT0S to PT60S. Default PT0S.')),
    sequence: optional(
      Type.Array(statusField('A status.'), {
        minItems: 1,
        maxItems: 100,
        description: 'The statuses of the next answers, one for each POST or PUT. The last one holds.',
      }),
    ),
    body: optional(
      Type.String({ maxLength: 16_384, description: 'The text of each answer. Default: empty.' }),
    ),
  },
  {
    title: 'InboxBehaviourRequest',
    description: 'How an inbox answers.',
    examples: [{ sequence: [503, 503, 200] }],
  },
)
export type BehaviourBody = Static<typeof behaviourBody>

export const behaviourSchema = Type.Object(
  {
    status: Type.Integer({ description: 'The status of the next answer.' }),
    delay: text('The time that each answer waits.'),
    sequence: optional(Type.Array(Type.Integer(), { description: 'The sequence, where there is one.' })),
    used: count('The number of messages that were answered since the behaviour was set.'),
    body: text('The text of each answer.'),
  },
  { title: 'InboxBehaviour', description: 'How an inbox answers.' },
)

export const inboxesSchema = Type.Object(
  {
    inboxes: Type.Array(
      Type.Object(
        {
          name: text('The name.'),
          url: text('The address to send to.'),
          messageCount: count('The number of messages that are kept.'),
          droppedCount: count('The number of messages that were dropped as the oldest ones.'),
          behaviour: behaviourSchema,
        },
        { title: 'Inbox', description: 'An inbox of the catcher.' },
      ),
      { description: 'The inboxes, in the order of their first use.' },
    ),
    messageCount: count('The number of messages that are kept, of all inboxes.'),
    messagesMax: count('The number of messages from which the oldest is dropped for a new one.'),
    keptBytes: count('The memory of the messages that are kept.'),
    keptBytesMax: count('The memory from which the oldest message is dropped.'),
  },
  { title: 'Catcher', description: 'The inboxes of the catcher.' },
)

export const caughtFilters = Type.Object({
  topic: optional(
    Type.String({
      maxLength: 100,
      description:
        'The topic, such as payments or transactions.inbound; transactions.* stands for all of transactions.',
    }),
  ),
  resourceId: optional(idField('The resource.')),
  messageId: optional(Type.String({ maxLength: 100, description: "The platform's id of the message." })),
  after: optional(idField('The id of a message of the inbox: only newer ones are listed and waited for.')),
  wait: optional(text(waitText)),
})
export type CaughtFilters = Static<typeof caughtFilters>

export const caughtMessageSchema = Type.Object(
  {
    id: idField('The id of the request in the catcher; a message that is sent again has another one.'),
    inbox: text('The name of the inbox.'),
    method: text('The method.'),
    path: text('The path.'),
    query: text('The query as it was sent, without the question mark.'),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'The headers by their names in small letters; those that occur twice are joined by a comma.',
    }),
    body: text('The body: its text, or base64 where it is not UTF-8. A list has the first 65,536 bytes.'),
    bodyEncoding: Type.Enum(['utf8', 'base64'], { description: 'The form of `body`.' }),
    bodyBytes: count('The size of the whole body.'),
    receivedDate: dateField('The time of receipt, which `from` and `to` compare.'),
    answeredStatus: count('The status of the answer.'),
    line: optional(
      Type.Enum(['v1', 'v2'], { description: 'The line of notifications whose form the body has, if any.' }),
    ),
    messageId: optional(text("The platform's id of the message, the same at each attempt.")),
    topic: optional(text('The topic of the message.')),
    resourceId: optional(text('The id of the resource in the message.')),
    confirmation: optional(
      Type.Object(
        {
          state: Type.Enum(['confirmed', 'refused', 'failed'], {
            description: 'refused, where SubscribeURL is not of this sandbox.',
          }),
          reason: text('The reason.'),
        },
        { description: 'What became of the SubscribeURL of a request to confirm a subscription.' },
      ),
    ),
    signature: Type.Object(
      {
        state: Type.Enum(['valid', 'invalid', 'absent'], { description: 'The verdict.' }),
        reason: text('The reason.'),
      },
      { description: 'The verdict on the signature, by the rules for receivers of the line.' },
    ),
  },
  { title: 'CaughtMessage', description: 'A request that an inbox received.' },
)

export const newInboxSubscription = Type.Object(
  {
    line: Type.Enum(['v1', 'v2'], {
      description: 'v1 notifies of the business account, v2 of wallets.',
    }),
    topics: optional(
      Type.Array(Type.Enum([...notificationTypes]), {
        minItems: 1,
        maxItems: 100,
        description: 'The types of v2 to receive. Default: all. v1 always sends all.',
      }),
    ),
  },
  { title: 'InboxSubscriptionRequest', description: 'What to subscribe to.', examples: [{ line: 'v1' }] },
)
export type NewInboxSubscription = Static<typeof newInboxSubscription>

export const inboxSubscriptionSchema = Type.Object(
  {
    id: idField('The id of the subscription.'),
    line: Type.Enum(['v1', 'v2'], { description: 'The line.' }),
    endpoint: text('The address of the inbox.'),
    isConfirmed: Type.Boolean({
      description: 'Whether it receives everything from now on; false when a v1 confirmation takes long.',
    }),
  },
  { title: 'InboxSubscription', description: 'A subscription of an inbox.' },
)

export const forwardBody = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: 'The address of the receiver, under the rules for endpoints of notifications.',
    }),
  },
  {
    title: 'ForwardRequest',
    description: 'The receiver.',
    examples: [{ url: 'http://localhost:3000/webhooks' }],
  },
)

export const forwardedSchema = Type.Object(
  {
    status: optional(Type.Integer({ description: 'The status of the answer; absent without one.' })),
    error: optional(text('Why there is no answer.')),
    durationMs: count('The time until the answer, in milliseconds.'),
    body: optional(text('The first 300 characters of the answer.')),
  },
  { title: 'Forwarded', description: 'The answer of the receiver.' },
)

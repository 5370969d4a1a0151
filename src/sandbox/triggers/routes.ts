import Type from 'typebox'
import { idField } from '#api/fields'
import { type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'
import type { TriggerTarget } from './steps.ts'
import { listTriggers, trigger } from './trigger.ts'

const text = (description: string) => Type.String({ description })
const topicsField = Type.Array(Type.String(), {
  description: 'The topics of the notifications that it causes.',
})

const triggersSchema = Type.Object(
  {
    events: Type.Array(
      Type.Object(
        {
          event: text('The name.'),
          about: text('What happens.'),
          topics: topicsField,
          values: Type.Record(Type.String(), Type.String(), {
            description: 'The paths that can be set, with their usual values.',
          }),
          blockchains: Type.Array(Type.String(), {
            description:
              'The chains of this sandbox on which it can happen; none where all lack what it needs.',
          }),
          needs: Type.Optional(text('What it needs of its chain, where not every chain has that.')),
        },
        { title: 'TriggerEvent', description: 'An event that can be triggered.' },
      ),
      { description: 'The events.' },
    ),
    notCovered: Type.Array(
      Type.Object(
        { topic: text('The topic, or its group.'), reason: text('The reason.') },
        { title: 'UntriggeredTopic', description: 'A topic that no event has.' },
      ),
      { description: 'The topics that no event has.' },
    ),
  },
  { title: 'Triggers', description: 'The events that can be triggered.' },
)

const triggerBody = Type.Object(
  {
    event: Type.String({ maxLength: 100, description: 'The event, such as payment.paid.' }),
    set: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 100 }), {
        description: 'Values in place of the usual ones, by path.',
      }),
    ),
    seed: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Draws the addresses that receive. Default: drawn, and returned.',
      }),
    ),
  },
  { title: 'TriggerRequest', description: 'What is to happen.', examples: [{ event: 'payment.paid' }] },
)

const triggeredSchema = Type.Object(
  {
    event: text('The event.'),
    seed: text('The seed.'),
    made: Type.Array(
      Type.Object(
        { kind: text('The kind of resource.'), id: idField('The id.') },
        { title: 'MadeResource', description: 'A resource that was made.' },
      ),
      { description: 'The resources that were made.' },
    ),
    notifications: Type.Array(
      Type.Object(
        {
          id: idField('The id.'),
          line: text('The line.'),
          topic: text('The topic.'),
          resourceId: text('The resource.'),
        },
        { title: 'CausedNotification', description: 'A notification that it caused.' },
      ),
      { description: 'Their notifications so far; lines without a subscription have none.' },
    ),
  },
  { title: 'Triggered', description: 'What happened.' },
)

const common = { tag: 'Sandbox', auth: 'none', changing: false, path: '/sandbox/triggers' } as const

/** Operations that make things happen; they hold no `tx`, since their steps are requests of their own. */
export const triggerEndpoints = (target: TriggerTarget) =>
  [
    endpoint({
      ...common,
      method: 'GET',
      operationId: 'listSandboxTriggers',
      summary: 'List what can be triggered',
      description: 'Lists the events with a sentence each, and the topics that none of them has.',
      response: triggersSchema,
      errors: [],
      verb: async (_: RequestScope) => listTriggers(target),
    }),
    endpoint({
      ...common,
      method: 'POST',
      operationId: 'triggerSandboxEvent',
      summary: 'Make something happen',
      description:
        'Runs the operations that lead to an event, as a client and its customers would, and returns when it has happened.',
      status: 201,
      body: triggerBody,
      response: triggeredSchema,
      errors: ['triggerFailed'],
      verb: async (_: RequestScope, { body }) => trigger(target, body),
    }),
  ] as Endpoint<never>[]

import Type from 'typebox'
import { createDateField, dateField, idField } from '#api/fields'

const optional = Type.Optional

const typeFilter = Type.String({
  maxLength: 100,
  pattern: '^[A-Za-z]+\\.([A-Za-z]+|\\*)$',
  description: 'The type, such as transaction.complete; transaction.* names all types of transactions.',
})

export const eventFilters = Type.Object({
  type: optional(typeFilter),
  resourceId: optional(Type.String({ maxLength: 100, description: 'The id of the resource.' })),
})

export const streamFilters = Type.Object({
  ...eventFilters.properties,
  after: optional(idField('The last event that the client has; the header Last-Event-ID takes precedence.')),
})

export const eventSchema = Type.Object(
  {
    id: idField('The id of the event.'),
    type: Type.String({ description: 'The resource, and what happened to it.' }),
    resourceId: Type.String({ description: 'The id of the resource.' }),
    actor: Type.String({
      description: 'Who did it: key:<id> for a request, user:<id> for a user, or the name of an engine.',
    }),
    requestId: optional(Type.String({ description: 'The X-Request-Id of the request that did it.' })),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'What a reader of the event needs.' }),
    createDate: createDateField,
    recordedDate: dateField(
      'The real time at which it was recorded: the clock of a sandbox may differ from it.',
    ),
  },
  { title: 'Event', description: 'A change of a resource, and who made it.' },
)

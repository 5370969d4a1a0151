import Type from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { eventFilters, eventSchema, streamFilters } from './event-schema.ts'
import { listEvents, streamEvents } from './read-events.ts'

const tag = 'Operator'

/** The changes of every resource of an entity, as a list and as a stream. */
export const operatorEventEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/events',
    operationId: 'listOperatorEvents',
    summary: 'List events',
    description: 'Lists the changes of all resources of the entity with their actors, newest first.',
    tag,
    auth: 'operator:read',
    query: eventFilters,
    response: Type.Array(eventSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listEvents(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/events/stream',
    operationId: 'streamOperatorEvents',
    summary: 'Stream events',
    description:
      'Sends the changes as they happen, as server-sent events: `id` is that of the event, `event` its type, `data` the event without its own data. A client that names its last event, by Last-Event-ID or `after`, misses none and gets none twice; one that is more than 5,000 events behind gets an event `gap` with `from` and `to`, and reads the list. Without either, it gets what happens from now on. After the restore of a snapshot, which only a sandbox has, it gets an event `lab.restored` with the `snapshot`, and from there on what happens in the restored state. A key may have 8 open streams. A stream ends after five minutes, so that its key is checked again: open it again with Last-Event-ID.',
    tag,
    auth: 'operator:read',
    query: streamFilters,
    response: Type.String({ description: 'Server-sent events, and a comment every 15 seconds without one.' }),
    enveloped: false,
    media: 'text/event-stream',
    streams: true,
    errors: [],
    verb: (ctx: SandboxCtx, { query, arrived }) => streamEvents(ctx, query, arrived),
  }),
]

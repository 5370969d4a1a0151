import { chainErrors } from '#api/interface/documented-errors'
import type { Ctx } from '#engines/ctx'
import { walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { contractErrorsAs } from '../contract-errors.ts'
import { headsOfMonitor, removeEventMonitor, updateEventMonitor } from './change-event-monitor.ts'
import { createEventMonitor, prepareEventMonitor } from './create-event-monitor.ts'
import { getEventLogs } from './read-event-logs.ts'
import { getEventMonitor, getEventMonitors } from './read-event-monitors.ts'
import {
  eventLogsAnswer,
  eventLogsQuery,
  eventMonitorAnswer,
  eventMonitorParams,
  eventMonitorsAnswer,
  eventMonitorsQuery,
  eventMonitorUpdate,
  newEventMonitorBody,
} from './schema.ts'

const tag = 'Event monitors'

type Created = { data: { eventMonitor: { id: string } } }

export const eventMonitorEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/contracts/monitors',
    operationId: 'listEventMonitors',
    summary: 'List event monitors',
    description: 'Lists the event monitors of the entity with their progress.',
    tag,
    auth: 'apiKey',
    query: eventMonitorsQuery,
    response: eventMonitorsAnswer,
    collection: { ...walletCollection, items: 'eventMonitors' },
    errors: ['eventSignatureUnknown'],
    errorsAs: contractErrorsAs,
    verb: (ctx: Ctx, { query, page }) => getEventMonitors(ctx, query, page),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/contracts/monitors',
    operationId: 'createEventMonitor',
    summary: 'Create an event monitor',
    description:
      'Records the logs of an event of a deployed or imported contract from now on, and of earlier blocks from `fromBlock` on. An event has one monitor, whichever way its signature is spelled.',
    tag,
    auth: 'apiKey',
    body: newEventMonitorBody,
    response: eventMonitorAnswer,
    status: 201,
    alternatives: { 200: 'The event has a monitor already, which is returned.' },
    idempotent: {
      conflict: 'contractKeyReused',
      resourceIdOf: ({ data }: Created) => data.eventMonitor.id,
      reload: (ctx: Ctx, id) => getEventMonitor(ctx, id),
    },
    errors: [
      'contractNotFound',
      'contractMissingAtAddress',
      'contractArchived',
      'deploymentPending',
      'contractAddressInvalid',
      'eventSignatureUnknown',
      'eventMonitorExists',
      'eventMonitorNotFound',
      'contractChainUnsupported',
      ...chainErrors,
    ],
    errorsAs: contractErrorsAs,
    prepare: (ctx: Ctx, input) => prepareEventMonitor(ctx, input),
    verb: createEventMonitor,
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/contracts/monitors/{id}',
    operationId: 'updateEventMonitor',
    summary: 'Enable or disable an event monitor',
    description:
      'Enables or disables an event monitor. Logs of the time in which it is disabled are not recorded.',
    tag,
    auth: 'apiKey',
    params: eventMonitorParams,
    body: eventMonitorUpdate,
    response: eventMonitorAnswer,
    errors: ['idNotUuid', 'eventMonitorNotFound', 'contractArchived', 'deploymentPending'],
    errorsAs: contractErrorsAs,
    prepare: (ctx: Ctx, { params }) => headsOfMonitor(ctx, params.id),
    verb: (ctx: Ctx, { params, body }, heads) => updateEventMonitor(ctx, params.id, body.isEnabled, heads),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/w3s/contracts/monitors/{id}',
    operationId: 'deleteEventMonitor',
    summary: 'Delete an event monitor',
    description: 'Deletes an event monitor. The logs that it recorded stay listed.',
    tag,
    auth: 'apiKey',
    params: eventMonitorParams,
    errors: ['idNotUuid', 'eventMonitorNotFound'],
    errorsAs: contractErrorsAs,
    verb: (ctx: Ctx, { params }) => removeEventMonitor(ctx, params.id),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/eventMonitors/{id}',
    operationId: 'getOperatorEventMonitor',
    summary: 'Get an event monitor',
    description: 'Returns an event monitor with its progress.',
    tag: 'Operator',
    auth: 'operator:read',
    params: eventMonitorParams,
    response: eventMonitorAnswer,
    errors: ['idNotUuid', 'eventMonitorNotFound'],
    errorsAs: contractErrorsAs,
    verb: (ctx: Ctx, { params }) => getEventMonitor(ctx, params.id),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/contracts/events',
    operationId: 'listEventLogs',
    summary: 'List event logs',
    description:
      'Lists the logs that the event monitors recorded, decoded where the declaration of the event is known. Logs of blocks that a reorg removed are not listed.',
    tag,
    auth: 'apiKey',
    query: eventLogsQuery,
    response: eventLogsAnswer,
    collection: { ...walletCollection, items: 'eventLogs' },
    errors: [],
    errorsAs: contractErrorsAs,
    verb: (ctx: Ctx, { query, page }) => getEventLogs(ctx, query, page),
  }),
]

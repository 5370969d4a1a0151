import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { getRequest, listRequests } from './read-requests.ts'
import {
  loggedRequestParams,
  loggedRequestSchema,
  requestDetailSchema,
  requestFilters,
} from './request-schema.ts'

const tag = 'Operator'

/** The request log. */
export const operatorRequestEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/requests',
    operationId: 'listOperatorRequests',
    summary: 'List requests',
    description:
      'Lists the requests that were answered, newest first, within a second of their answers. Requests without a valid key and reads of operators are not logged.',
    tag,
    auth: 'operator:read',
    query: requestFilters,
    response: Type.Array(loggedRequestSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listRequests(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/requests/{id}',
    operationId: 'getOperatorRequest',
    summary: 'Get a request',
    description:
      'Returns a request by its id or by the X-Request-Id of its answer, with headers and bodies where the log keeps them. Values without a place in the allow-list of the log are [redacted].',
    tag,
    auth: 'operator:read',
    params: loggedRequestParams,
    response: requestDetailSchema,
    errors: ['requestNotFound'],
    verb: (ctx: Ctx, { params }) => getRequest(ctx, params.id),
  }),
]

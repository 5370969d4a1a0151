import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { getScreening, listScreenings } from './list-screenings.ts'
import {
  operatorScreeningSchema,
  screenAddressBody,
  screeningAnswer,
  screeningFilters,
  screeningParams,
} from './schema.ts'
import { createAddressScreening, reloadScreening } from './screen-address.ts'

export const screeningEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/compliance/screening/addresses',
    operationId: 'screenAddress',
    summary: 'Screen an address',
    description:
      'Checks an address as the receiver of value against the lists of this server, and on test networks by its last characters. The decision is recorded; a repeated request returns the recorded one. The answer has the screening itself and, for clients that read that, again in data.',
    tag: 'Compliance',
    auth: 'apiKey',
    body: screenAddressBody,
    response: screeningAnswer,
    enveloped: false,
    idempotent: {
      conflict: 'idempotencyKeyReused',
      resourceIdOf: ({ id }: { id: string }) => id,
      reload: (ctx: Ctx, id) => reloadScreening(ctx, id),
    },
    errors: ['screeningChainUnsupported', 'screeningAddressInvalid'],
    verb: (ctx: Ctx, { body }) => createAddressScreening(ctx, body),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/screenings',
    operationId: 'listOperatorScreenings',
    summary: 'List screenings',
    description: 'Lists the screenings of addresses that the entity asked for, newest first.',
    tag: 'Operator',
    auth: 'operator:read',
    query: screeningFilters,
    response: Type.Array(operatorScreeningSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['screeningChainUnsupported', 'screeningAddressInvalid'],
    verb: (ctx: Ctx, { query, page }) => listScreenings(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/screenings/{id}',
    operationId: 'getOperatorScreening',
    summary: 'Get a screening',
    description: 'Returns a screening that the entity asked for.',
    tag: 'Operator',
    auth: 'operator:read',
    params: screeningParams,
    response: operatorScreeningSchema,
    errors: ['screeningNotFound'],
    verb: (ctx: Ctx, { params }) => getScreening(ctx, params.id),
  }),
]

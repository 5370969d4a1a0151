import Type from 'typebox'
import { presentLists } from '#engines/compliance/lists/index'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import {
  listedFilters,
  listedSchema,
  listVersionFilters,
  listVersionSchema,
  screeningListSchema,
} from './list-schema.ts'
import { findListedAddress, listVersions, showVersion } from './read-lists.ts'

const tag = 'Operator'

/** The lists of screening. They apply to all entities, so commands alone change them: bezant screening. */
export const screeningListEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/screeningLists',
    operationId: 'listOperatorScreeningLists',
    summary: 'List screening lists',
    description:
      'Lists the lists of screening with their present versions, by name. They apply to all entities of this server: bezant screening changes them.',
    tag,
    auth: 'operator:read',
    response: Type.Array(screeningListSchema, { description: 'The lists.' }),
    errors: [],
    verb: async (ctx: Ctx) => (await presentLists(ctx.db)).map(showVersion),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/screeningListVersions',
    operationId: 'listOperatorScreeningListVersions',
    summary: 'List the versions of a screening list',
    description:
      'Lists the versions of a list, newest first: who changed it, when, why, and from which file.',
    tag,
    auth: 'operator:read',
    query: listVersionFilters,
    response: Type.Array(listVersionSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listVersions(ctx, query.list, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/screeningListEntries',
    operationId: 'listOperatorScreeningListEntries',
    summary: 'Look an address up in the screening lists',
    description:
      'Returns the lists that name an address at present, with the reference of each entry and the version that added it. It records nothing and decides nothing: POST /v1/w3s/compliance/screening/addresses does.',
    tag,
    auth: 'operator:read',
    query: listedFilters,
    response: listedSchema,
    errors: ['screeningChainUnsupported', 'screeningAddressInvalid'],
    verb: (ctx: Ctx, { query }) => findListedAddress(ctx, query),
  }),
]

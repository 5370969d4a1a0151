import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { flowFilters, flowSchema, overviewFilters, overviewSchema } from './overview-schema.ts'
import { getFlow } from './read-flow.ts'
import { getOverview } from './read-overview.ts'
import { findByWord } from './search.ts'
import { foundSchema, searchFilters } from './search-schema.ts'

const tag = 'Operator'

/** Sums over all that an entity has and moves. */
export const operatorOverviewEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/overview',
    operationId: 'getOperatorOverview',
    summary: 'Get the overview',
    description:
      'Returns what the entity has by currency and chain, up to which blocks the books were compared with the chains, what needs somebody (open gaps, stuck transactions, pending reviews, payouts, transfers and refunds that wait for coins or gas, endpoints that fail or are disabled), and how webhooks arrive.',
    tag,
    auth: 'operator:read',
    query: overviewFilters,
    response: overviewSchema,
    errors: [],
    verb: (ctx: Ctx, { query }) => getOverview(ctx, query.currency),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/flow',
    operationId: 'getOperatorFlow',
    summary: 'Get the flow of money',
    description:
      'Returns the stablecoins of one currency that came to addresses of the entity from outside, and that left them, in buckets of time. Moves between its own addresses are neither; one to another chain goes out there and comes in here. A transfer counts when it is booked, by the time of the business clock, and is in the answer about a second later. A reorg takes it from the bucket that had it.',
    tag,
    auth: 'operator:read',
    query: flowFilters,
    response: flowSchema,
    errors: [],
    verb: (ctx: Ctx, { query }) => getFlow(ctx, query),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/search',
    operationId: 'searchOperator',
    summary: 'Search',
    description:
      'Finds what one word is about among the resources of the entity: at most 10, the best matches first. It is compared as a whole, but for the beginnings of ids and hashes; names and parts of a word are not searched. An amount finds movements of that amount, whatever their currency.',
    tag,
    auth: 'operator:read',
    query: searchFilters,
    response: Type.Array(foundSchema, { description: 'The resources; none when nothing has this word.' }),
    errors: [],
    verb: (ctx: Ctx, { query }) => findByWord(ctx, query.q),
  }),
]

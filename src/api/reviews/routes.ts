import Type from 'typebox'
import { findReview, type Review, type ReviewState, reviewsPage } from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { decideReview, withValues } from '#engines/treasury/index'
import { notFound } from '#lib/errors'
import { businessCollection, type PageQuery } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { decisionBody, reviewFilters, reviewParams, reviewSchema, showReview } from './schema.ts'

const tag = 'Operator'

async function listReviews(ctx: Ctx, state: ReviewState | undefined, page: PageQuery) {
  const found = await reviewsPage(ctx.db, ctx.entity.id, state, page)
  return { found, items: (await withValues(ctx.db, ctx.entity.id, found.rows)).map(showReview) }
}

async function getReview(ctx: Ctx, id: string) {
  const found = await findReview(ctx.db, ctx.entity.id, id)
  if (!found) throw notFound('review', id, 'reviewNotFound')
  return showOne(ctx, found)
}

const showOne = async (ctx: Ctx, review: Review) =>
  showReview((await withValues(ctx.db, ctx.entity.id, [review]))[0]!)

const deciding = (verdict: 'approve' | 'deny', summary: string, description: string) =>
  endpoint({
    method: 'POST',
    path: `/operator/reviews/{id}/${verdict}`,
    operationId: `${verdict}OperatorReview`,
    summary,
    description,
    tag,
    auth: 'operator:write',
    params: reviewParams,
    body: decisionBody,
    response: reviewSchema,
    errors: ['reviewNotFound', 'reviewEnded', 'reviewNeedsAnother'],
    verb: async (ctx: Ctx, { params, body }) =>
      showOne(ctx, await decideReview(ctx, { id: params.id, verdict, reason: body.reason })),
  })

export const reviewEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/reviews',
    operationId: 'listOperatorReviews',
    summary: 'List reviews',
    description: 'Lists the transactions and deposits that screening left to an operator, newest first.',
    tag,
    auth: 'operator:read',
    query: reviewFilters,
    response: Type.Array(reviewSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listReviews(ctx, query.state, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/reviews/{id}',
    operationId: 'getOperatorReview',
    summary: 'Get a review',
    description: 'Returns the review of a transaction or deposit.',
    tag,
    auth: 'operator:read',
    params: reviewParams,
    response: reviewSchema,
    errors: ['reviewNotFound'],
    verb: (ctx: Ctx, { params }) => getReview(ctx, params.id),
  }),
  deciding(
    'approve',
    'Approve a review',
    'Lets a transaction under review be signed, once the lists were consulted again; releases what a wallet received; credits a deposit. Where two operators have to approve, the first approval only counts.',
  ),
  deciding(
    'deny',
    'Deny a review',
    'Ends an outgoing transaction as DENIED, and releases the money that it holds. What was received stays held, and a deposit fails uncredited, until an operator approves it after all.',
  ),
]

import Type from 'typebox'
import { userIdField } from '#api/users/schema'
import type { Ctx } from '#engines/ctx'
import { requireUser } from '#identity/index'
import { businessCollection, type PageQuery } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { described } from '#runtime/http/openapi/annotate'
import { challengeShape } from './schema.ts'
import { showChallenge } from './show-challenge.ts'
import { listChallenges } from './store.ts'

async function listChallengesOf(ctx: Ctx, userId: string, page: PageQuery) {
  await requireUser(ctx, userId, 'userId')
  const nowMs = ctx.clock.nowMs()
  const found = await listChallenges(ctx.db, { entityId: ctx.entity.id, userId }, undefined, nowMs, page)
  return { found, items: found.rows.map((row) => showChallenge(row, nowMs)) }
}

export const operatorChallengeEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/challenges',
    operationId: 'listOperatorChallenges',
    summary: 'List the challenges of a user',
    description:
      'Lists what a user of the app was asked to approve, newest first, without the contents of the requests.',
    tag: 'Operator',
    auth: 'operator:read',
    query: Type.Object({ userId: described(userIdField, 'The id that your app chose for the user.') }),
    response: Type.Array(challengeShape, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['userNotFound'],
    verb: (ctx: Ctx, { query, page }) => listChallengesOf(ctx, query.userId, page),
  }),
]

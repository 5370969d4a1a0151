import type { Ctx } from '#engines/ctx'
import { createUser, issueUserToken, listUsers, openTokenKey, requireUser } from '#identity/index'
import { orderedWalletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import {
  createTokenBody,
  createUserBody,
  endUserShape,
  keySetAnswer,
  sessionAnswer,
  showUser,
  userAnswer,
  userParams,
  usersAnswer,
  usersQuery,
} from './schema.ts'
import { showOwnUser } from './show-own-user.ts'

const tag = 'Users'

export const userEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/users',
    operationId: 'createUser',
    summary: 'Create a user',
    description: 'Creates a user of your app under an id of your choice, which never changes.',
    tag,
    auth: 'apiKey',
    body: createUserBody,
    response: endUserShape,
    status: 201,
    errors: ['userExists'],
    verb: async (ctx: Ctx, { body }) => showUser(await createUser(ctx, body.userId)),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/users',
    operationId: 'listUsers',
    summary: 'List users',
    description:
      'Lists the users of the entity, newest first. The cursors of the Link header are ids that only this list uses.',
    tag,
    auth: 'apiKey',
    query: usersQuery,
    response: usersAnswer,
    collection: { ...orderedWalletCollection, items: 'users' },
    errors: [],
    verb: async (ctx: Ctx, { query, page }) => {
      const found = await listUsers(ctx.db, ctx.entity.id, query, page, ctx.clock.nowMs())
      return { found, items: found.rows.map(showUser) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/users/{id}',
    operationId: 'getUser',
    summary: 'Get a user',
    description: 'Returns one user.',
    tag,
    auth: 'apiKey',
    params: userParams,
    response: userAnswer,
    errors: ['userNotFound'],
    verb: async (ctx: Ctx, { params }) => ({ user: showUser(await requireUser(ctx, params.id)) }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/user',
    operationId: 'getUserStatus',
    summary: 'Get the user of a token',
    description: 'Returns the user that the token is of.',
    tag,
    auth: 'apiKey',
    userToken: 'required',
    response: endUserShape,
    errors: [],
    verb: showOwnUser,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/users/token',
    operationId: 'createUserToken',
    summary: 'Create a user token',
    description:
      'Returns a token by which requests act for the user. It lives for an hour, and ends no older token. Verify it with the keys of GET /.well-known/jwks.json.',
    tag,
    auth: 'apiKey',
    body: createTokenBody,
    response: sessionAnswer,
    errors: ['userNotFound', 'userDisabled'],
    prepare: (ctx: Ctx) => openTokenKey(ctx),
    verb: async (ctx: Ctx, { body }, signingKey) =>
      issueUserToken(ctx, await requireUser(ctx, body.userId, 'userId'), signingKey),
  }),
  endpoint({
    method: 'GET',
    path: '/.well-known/jwks.json',
    operationId: 'getKeySet',
    summary: 'Get the keys of user tokens',
    description:
      'Returns the public keys that user tokens are signed with, as a JSON Web Key Set. A new one comes each month.',
    tag,
    auth: 'none',
    response: keySetAnswer,
    enveloped: false,
    errors: [],
    verb: async (ctx: Ctx) => ({ keys: await ctx.identity.tokenKeys.published() }),
  }),
]

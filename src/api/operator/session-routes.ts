import type { Ctx } from '#engines/ctx'
import { checkSignIn } from '#identity/members/index'
import { endpoint } from '#runtime/http/endpoint'
import { chosenEntityBody, sessionSchema, signInBody, signInWaysSchema } from './session-schema.ts'
import { chooseEntity, showSession, signIn, signOut } from './sessions.ts'

const tag = 'Operator'
const path = '/operator/session'

/** The session of the console. Programs use API keys. */
export const operatorSessionEndpoints = [
  endpoint({
    method: 'GET',
    path: `${path}/ways`,
    operationId: 'listSignInWays',
    summary: 'List the ways to sign in to the console',
    description:
      'Names the provider with which members sign in besides their passwords, where the server has one: a browser begins at `/console/sign-in`.',
    tag,
    auth: 'none',
    response: signInWaysSchema,
    errors: [],
    verb: async ({ config }: Ctx) => ({
      ...(config.signInProvider && { provider: new URL(config.signInProvider.issuer).host }),
    }),
  }),
  endpoint({
    method: 'GET',
    path,
    operationId: 'getOperatorSession',
    summary: 'Get the session',
    description:
      'Shows who signed in and for which entity, by the cookie alone. Every other request of a session sends its `csrfToken` in the header `X-Bezant-Console`. A session ends after 12 hours without a request, and after 7 days.',
    tag,
    auth: 'member',
    response: sessionSchema,
    errors: [],
    verb: (ctx: Ctx) => showSession(ctx, ctx.member!),
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'beginOperatorSession',
    summary: 'Sign in to the console',
    description:
      'Begins a session in a cookie that no script can read. A member with an authenticator sends its one-time code too; each code works once. After five wrong tries from one address the member waits, longer after each further one. `bezant members add` makes members.',
    tag,
    auth: 'none',
    body: signInBody,
    status: 201,
    response: sessionSchema,
    errors: ['signInRefused', 'signInCodeMissing', 'signInCodeWrong', 'signInPaused', 'memberWithoutRole'],
    prepare: (ctx: Ctx, { body: { name, password, code } }) =>
      checkSignIn(ctx, { name, password, code, address: ctx.page! }),
    verb: (ctx: Ctx, { body }, checked) => signIn(ctx, checked, body.entityId),
  }),
  endpoint({
    method: 'PUT',
    path,
    operationId: 'chooseSessionEntity',
    summary: 'Choose the entity of the session',
    description: 'Ends the session and begins one for another entity, in which the member has a role too.',
    tag,
    auth: 'member',
    body: chosenEntityBody,
    response: sessionSchema,
    errors: ['memberWithoutRole'],
    verb: (ctx: Ctx, { body }) => chooseEntity(ctx, ctx.member!, body.entityId),
  }),
  endpoint({
    method: 'DELETE',
    path,
    operationId: 'endOperatorSession',
    summary: 'Sign out of the console',
    description: 'Ends the session on the server, and takes its cookie away.',
    tag,
    auth: 'member',
    status: 204,
    errors: [],
    verb: (ctx: Ctx) => signOut(ctx, ctx.member!),
  }),
]

import type { Ctx } from '#engines/ctx'
import { beginEnrolment, checkSignIn } from '#identity/members/index'
import { endpoint } from '#runtime/http/endpoint'
import {
  chosenEntityBody,
  confirmedCodesBody,
  newCodesBody,
  newCodesSchema,
  sessionSchema,
  signInBody,
  signInWaysSchema,
} from './session-schema.ts'
import { chooseEntity, confirmCodes, showSession, signIn, signOut } from './sessions.ts'

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
  endpoint({
    method: 'POST',
    path: `${path}/codes`,
    operationId: 'makeSessionCodes',
    summary: 'Make one-time codes',
    description:
      'Makes a secret of one-time codes for the member of the session, who enters the password again and, with codes already, the present one. It counts once PUT has confirmed it; until then everything stays as it is.',
    tag,
    auth: 'member',
    body: newCodesBody,
    response: newCodesSchema,
    errors: ['signInRefused', 'signInCodeMissing', 'signInCodeWrong', 'signInPaused'],
    prepare: (ctx: Ctx, { body }) => beginEnrolment(ctx, ctx.member!, body),
    verb: async (_: Ctx, _input, made) => made,
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/codes`,
    operationId: 'confirmSessionCodes',
    summary: 'Confirm one-time codes',
    description:
      'Takes the new secret into use, in place of a former one, and ends all sessions of the member: the next sign-in asks for a code. That of this request is used up.',
    tag,
    auth: 'member',
    body: confirmedCodesBody,
    status: 204,
    errors: ['signInCodeWrong'],
    verb: (ctx: Ctx, { body }) => confirmCodes(ctx, ctx.member!, body),
  }),
]

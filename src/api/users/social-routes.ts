import type { Ctx } from '#engines/ctx'
import { openTokenKey } from '#identity/index'
import { endpoint } from '#runtime/http/endpoint'
import { checkSocialIdentity, createSocialToken, logInBySocial } from './log-in-by-social.ts'
import { kept } from './replayed-tokens.ts'
import { socialTokenAnswer, socialTokenBody, verifySocialAnswer, verifySocialBody } from './social-schema.ts'

const tag = 'Users'

export const socialEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/users/social/token',
    operationId: 'createDeviceTokenForSocialLogin',
    summary: 'Begin a login by a social provider',
    description:
      'Returns the tokens with which the page logs a user in by Google, Apple or Facebook. They work once, within ten minutes.',
    tag,
    auth: 'apiKey',
    body: socialTokenBody,
    response: socialTokenAnswer,
    idempotent: kept((answer: { deviceToken: string }) => answer.deviceToken, 'deviceTokenExpired'),
    errors: ['deviceIdInvalid', 'socialProvidersMissing', 'deviceTokenExpired'],
    prepare: (ctx: Ctx) => openTokenKey(ctx),
    verb: createSocialToken,
  }),
  endpoint({
    method: 'POST',
    path: '/page/social/login',
    operationId: 'logInBySocialProvider',
    summary: 'Log in by a social provider',
    description:
      'Verifies the token that a provider gave to the page, and begins a session of 14 days. A page calls it without an API key: the device token is the permission, and works once. An ID token begins one session. An identity is one user of the entity, whatever addresses it has.',
    tag,
    auth: 'none',
    body: verifySocialBody,
    response: verifySocialAnswer,
    errors: [
      'deviceTokenExpired',
      'deviceTokenInvalid',
      'deviceTokenNotFound',
      'socialTokenExpired',
      'socialTokenInvalid',
      'socialProvidersMissing',
      'userDisabled',
      'pageOriginRefused',
    ],
    prepare: checkSocialIdentity,
    verb: logInBySocial,
  }),
]

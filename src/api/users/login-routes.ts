import type { Ctx } from '#engines/ctx'
import { keepAnswer, openTokenKey, renewSession, tokenIdOf, tokenMaxMs } from '#identity/index'
import { endpoint } from '#runtime/http/endpoint'
import { requireDeviceId } from './device-scope.ts'
import { createEmailToken, enterCode, logInByCode, resendOtp } from './log-in-by-email.ts'
import {
  emailTokenAnswer,
  emailTokenBody,
  refreshAnswer,
  refreshBody,
  resendAnswer,
  resendOtpBody,
  verifyEmailAnswer,
  verifyEmailBody,
} from './login-schema.ts'
import { kept } from './replayed-tokens.ts'

const tag = 'Users'

export const loginEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/users/email/token',
    operationId: 'createDeviceTokenForEmailLogin',
    summary: 'Begin a login by e-mail',
    description:
      'Mails a code of six digits to the user, and returns the tokens with which the page verifies it. Five mails within an hour are sent to an address without a login.',
    tag,
    auth: 'apiKey',
    body: emailTokenBody,
    response: emailTokenAnswer,
    idempotent: kept((answer: { deviceToken: string }) => answer.deviceToken, 'deviceTokenExpired'),
    errors: [
      'emailInvalid',
      'deviceIdInvalid',
      'otpSendsExceeded',
      'mailNotConfigured',
      'deviceTokenExpired',
    ],
    prepare: (ctx: Ctx) => openTokenKey(ctx),
    verb: createEmailToken,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/users/email/resendOTP',
    operationId: 'resendOtp',
    summary: 'Mail another code',
    description:
      'Mails another code in place of an earlier one, which ends. The token of the earlier code is the permission: X-User-Token is ignored, because there is none before the first login.',
    tag,
    auth: 'apiKey',
    body: resendOtpBody,
    response: resendAnswer,
    idempotent: kept((answer: { otpToken: string }) => answer.otpToken, 'otpTokenExpired'),
    errors: [
      'otpTokenExpired',
      'otpTokenInvalid',
      'emailInvalid',
      'emailMismatch',
      'deviceIdInvalid',
      'otpSendsExceeded',
      'mailNotConfigured',
    ],
    prepare: (ctx: Ctx) => openTokenKey(ctx),
    verb: resendOtp,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/users/token/refresh',
    operationId: 'refreshUserToken',
    summary: 'Renew a session',
    description:
      'Returns the next tokens of a session that a login began. A refresh token works once: when one comes again, the session ends with all of its tokens.',
    tag,
    auth: 'apiKey',
    userToken: 'required',
    body: refreshBody,
    response: refreshAnswer,
    idempotent: kept((answer: { userToken: string }) => answer.userToken, 'userTokenExpired'),
    errors: ['deviceUnknown', 'deviceIdInvalid'],
    prepare: (ctx: Ctx) => openTokenKey(ctx),
    verb: async (ctx: Ctx, { body }, signingKey) => {
      requireDeviceId(body.deviceId)
      const { userId: userID, ...session } = await renewSession(ctx, body, signingKey)
      const answer = { ...session, userID }
      await keepAnswer(ctx, tokenIdOf(session.userToken), answer, tokenMaxMs)
      return answer
    },
  }),
  endpoint({
    method: 'POST',
    path: '/page/email/login',
    operationId: 'logInByEmail',
    summary: 'Log in by a mailed code',
    description:
      'Verifies the code that the user entered in a page, and begins a session of 14 days. A page calls it without an API key: the device token is the permission. Three entries end a code, and five wrong ones make the address wait for an hour.',
    tag,
    auth: 'none',
    body: verifyEmailBody,
    response: verifyEmailAnswer,
    errors: [
      'deviceTokenExpired',
      'deviceTokenInvalid',
      'deviceTokenNotFound',
      'otpTokenExpired',
      'otpTokenInvalid',
      'otpInvalid',
      'otpMismatch',
      'otpTokenVoid',
      'otpEntriesExceeded',
      'userDisabled',
      'pageOriginRefused',
    ],
    prepare: enterCode,
    verb: logInByCode,
  }),
]

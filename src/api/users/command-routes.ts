import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { openTokenKey } from '#identity/index'
import { endpoint } from '#runtime/http/endpoint'
import { createDeviceToken } from './device-scope.ts'
import { enterSealedCode, logInByCommand } from './log-in-by-command.ts'
import { deviceIdField, deviceProperties } from './login-schema.ts'
import { kept } from './replayed-tokens.ts'

const sealedField = (description: string) => Type.String({ maxLength: 16_384, description })

const sealedEntryBody = Type.Object(
  {
    deviceToken: deviceProperties.deviceToken,
    encrypt: sealedField(
      'The base64 of a nonce of 12 bytes and of JSON with otp and otpToken, encrypted with AES-256-GCM under deviceEncryptionKey.',
    ),
    emails: Type.Optional(
      Type.Array(Type.String({ maxLength: 320 }), {
        maxItems: 1_000,
        description:
          'Addresses that may log in, and domains such as *@example.com, in lower case; default: all.',
      }),
    ),
  },
  { title: 'LogInByCommandRequest', description: 'The code that the user entered, sealed.' },
)
const sealedSessionAnswer = Type.Object(
  {
    encrypt: sealedField(
      'JSON with userToken, encryptionKey, refreshToken, userID, userSecret and storageKey, sealed in the same way.',
    ),
  },
  { title: 'SealedSession', description: 'The session of the user.' },
)

const deviceTokenBody = Type.Object(
  { deviceId: deviceIdField },
  { title: 'CreateDeviceTokenRequest', description: 'The device of a login.' },
)
const deviceTokenAnswer = Type.Object(deviceProperties, {
  title: 'DeviceToken',
  description: 'A token of the device, and the key that belongs to it.',
})

export const commandLoginEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/auth/deviceToken',
    operationId: 'createDeviceToken',
    summary: 'Get a token for a device',
    description: 'Returns a token of a device for ten minutes, and ends the former one of the device.',
    tag: 'Users',
    auth: 'apiKey',
    body: deviceTokenBody,
    response: deviceTokenAnswer,
    idempotent: kept((answer: { deviceToken: string }) => answer.deviceToken, 'deviceTokenExpired'),
    errors: ['deviceIdInvalid', 'deviceTokenExpired'],
    prepare: (ctx: Ctx) => openTokenKey(ctx),
    verb: createDeviceToken,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/w3s/sdk/users/email/verifyOTP',
    operationId: 'logInByCommand',
    summary: 'Log in by a mailed code, from a command-line tool',
    description:
      "Verifies a code, and begins a session of 14 days of a user whose login opens the key: this server keeps it under its root key, so choose such users for budgets alone. The page of users makes other users of the same addresses. `bezant agent-proxy` calls this operation for the tool: each device gets a secret of its own, which ends with the user's log-out.",
    tag: 'Users',
    auth: 'apiKey',
    body: sealedEntryBody,
    response: sealedSessionAnswer,
    errors: [
      'deviceTokenExpired',
      'deviceTokenInvalid',
      'deviceTokenNotFound',
      'sealedBodyRefused',
      'otpTokenExpired',
      'otpTokenInvalid',
      'otpInvalid',
      'otpMismatch',
      'otpTokenVoid',
      'otpEntriesExceeded',
      'proxyAddressRefused',
      'userDisabled',
    ],
    prepare: (ctx: Ctx, input) => enterSealedCode(ctx, input),
    verb: logInByCommand,
  }),
]

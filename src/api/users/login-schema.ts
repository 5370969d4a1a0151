import Type from 'typebox'
import { framedByField } from '#api/fields'
import { sessionProperties, userIdField } from './schema.ts'

export const deviceIdField = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The id of the device, as the page tells it.',
})
const emailField = Type.String({
  minLength: 3,
  maxLength: 254,
  description: 'The e-mail address of the user.',
})
const otpTokenField = Type.String({ maxLength: 4096, description: 'The token that came with the code.' })

export const deviceProperties = {
  deviceToken: Type.String({
    maxLength: 4096,
    description: 'The token of the device, a JWT of ten minutes.',
  }),
  deviceEncryptionKey: Type.String({
    maxLength: 64,
    description: 'The base64 of 32 bytes that belong to this token, for the page.',
  }),
}

export const emailTokenBody = Type.Object(
  { deviceId: deviceIdField, email: emailField },
  { title: 'CreateEmailTokenRequest', description: 'The device and the address of a login.' },
)
export const emailTokenAnswer = Type.Object(
  { ...deviceProperties, otpToken: otpTokenField },
  { title: 'EmailLogin', description: 'The tokens that the page needs beside the code.' },
)

export const resendOtpBody = Type.Object(
  { otpToken: otpTokenField, email: emailField, deviceId: deviceIdField },
  { title: 'ResendOtpRequest', description: 'The code to replace.' },
)
export const resendAnswer = Type.Object(
  { otpToken: otpTokenField },
  { title: 'ResentOtp', description: 'The token of the new code.' },
)

const refreshTokenField = Type.String({
  maxLength: 128,
  description: 'The token that renews the session: it works once.',
})

export const refreshBody = Type.Object(
  { refreshToken: refreshTokenField, deviceId: deviceIdField },
  { title: 'RefreshUserTokenRequest', description: 'The session to renew.' },
)
export const refreshAnswer = Type.Object(
  { ...sessionProperties, userID: userIdField, refreshToken: refreshTokenField },
  { title: 'RefreshedSession', description: 'The next tokens of the session.' },
)

export const verifyEmailBody = Type.Object(
  {
    ...deviceProperties,
    otpToken: otpTokenField,
    otp: Type.String({ maxLength: 64, description: 'The code of six digits from the mail.' }),
    origin: Type.Optional(framedByField),
  },
  { title: 'VerifyEmailRequest', description: 'The code that the user entered.' },
)
export const loginProperties = { ...sessionProperties, refreshToken: refreshTokenField }
export const verifyEmailAnswer = Type.Object(loginProperties, {
  title: 'LoginResult',
  description: 'The session of the user.',
})

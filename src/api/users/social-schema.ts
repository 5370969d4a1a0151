import Type from 'typebox'
import { framedByField } from '#api/fields'
import { socialProviderNames } from '#runtime/social/types'
import { deviceIdField, deviceProperties, loginProperties } from './login-schema.ts'

const providerField = Type.Enum([...socialProviderNames], { description: 'The provider.' })
const text = (description: string) => Type.Optional(Type.String({ description }))

export const socialTokenBody = Type.Object(
  { deviceId: deviceIdField },
  { title: 'CreateSocialTokenRequest', description: 'The device of a login.' },
)
export const socialTokenAnswer = Type.Object(deviceProperties, {
  title: 'SocialLogin',
  description: 'The tokens that the page needs beside that of the provider.',
})

export const verifySocialBody = Type.Object(
  {
    ...deviceProperties,
    provider: providerField,
    token: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description: 'The ID token of the provider; of Facebook, the access token.',
    }),
    origin: Type.Optional(framedByField),
  },
  { title: 'VerifySocialRequest', description: 'What the provider gave to the page.' },
)
export const verifySocialAnswer = Type.Object(
  {
    ...loginProperties,
    oAuthInfo: Type.Object(
      {
        provider: providerField,
        socialUserUUID: Type.String({ description: 'The id of the user at the provider.' }),
        socialUserInfo: Type.Object(
          {
            email: text('The address, if the provider has verified it.'),
            name: text('The name.'),
            phone: text('The telephone number, if the provider has verified it.'),
          },
          { description: 'What the provider says about the user.' },
        ),
      },
      { description: 'The identity that the user proved.' },
    ),
  },
  { title: 'SocialLoginResult', description: 'The session of the user.' },
)

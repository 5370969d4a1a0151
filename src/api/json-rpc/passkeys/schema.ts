import Type, { type Static } from 'typebox'

/** Longer than any authenticator's data; a body has 64 KiB. */
const base64url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })
const clientDataJSON = base64url(8_192)
/** 1,023 bytes, the maximum of the standard. */
const credentialId = base64url(1_364)

const credentialOf = <Response extends ReturnType<typeof Type.Object>>(response: Response) =>
  Type.Object({ id: credentialId, rawId: credentialId, type: Type.Literal('public-key'), response })

const registration = credentialOf(Type.Object({ clientDataJSON, attestationObject: base64url(32_768) }))
export type RegistrationAnswer = Static<typeof registration>
const login = credentialOf(
  Type.Object({
    clientDataJSON,
    authenticatorData: base64url(8_192),
    signature: base64url(1_024),
    userHandle: Type.Optional(Type.Union([base64url(128), Type.Literal(''), Type.Null()])),
  }),
)
export type LoginAnswer = Static<typeof login>

export const registrationOptionsParams = Type.Tuple([Type.String({ minLength: 1, maxLength: 64 })])
export const registrationParams = Type.Tuple([registration])
/** An id of a credential; without one, or with an empty one, the user chooses among the passkeys of the page. */
export const loginOptionsParams = Type.Array(
  Type.Union([credentialId, Type.Literal(''), Type.Null()], { description: 'An id of a credential.' }),
  { maxItems: 1 },
)
export const loginParams = Type.Tuple([login])

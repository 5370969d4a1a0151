import Type from 'typebox'
import { createDateField, dateField } from '#api/fields'
import type { User } from '#identity/index'
import { type SecretState, secretStatuses } from '#identity/user-keys/index'
import { described } from '#runtime/http/openapi/annotate'

const secretStatusField = Type.Enum([...secretStatuses], {
  title: 'PinStatus',
  description: 'UNSET: not set yet. ENABLED: set. LOCKED: not accepted for a time, after wrong entries.',
})

const secretDetails = Type.Object(
  {
    failedAttempts: Type.Integer({ description: 'The wrong entries since the last right one.' }),
    lockedDate: Type.Optional(dateField('The time of the lock.')),
    lockedExpiryDate: Type.Optional(dateField('The end of the lock.')),
    lastLockOverrideDate: Type.Optional(dateField('The last time that a lock was ended early.')),
  },
  { title: 'PinSecurityDetails', description: 'Wrong entries, and the lock that they caused.' },
)

export const endUserShape = Type.Object(
  {
    id: Type.String({ description: 'The id that your app chose for the user.' }),
    status: Type.Enum(['ENABLED', 'DISABLED'], { description: 'A DISABLED user gets no tokens.' }),
    createDate: createDateField,
    pinStatus: described(secretStatusField, 'The status of the PIN.'),
    pinDetails: described(secretDetails, 'Wrong entries of the PIN.'),
    securityQuestionStatus: described(secretStatusField, 'The status of the security questions.'),
    securityQuestionDetails: described(secretDetails, 'Wrong answers to the security questions.'),
  },
  { title: 'EndUser', description: 'A user of your app, who holds the keys of wallets.' },
)

export const userAnswer = Type.Object({ user: endUserShape }, { description: 'The user.' })
export const usersAnswer = Type.Object(
  { users: Type.Array(endUserShape, { description: 'The users, newest first.' }) },
  { description: 'One page of users.' },
)

export const userIdField = Type.String({
  minLength: 5,
  maxLength: 50,
  description: 'The id of the user, which your app chooses.',
})

export const createUserBody = Type.Object(
  { userId: userIdField },
  { title: 'CreateUserRequest', description: 'A user to create.' },
)

export const createTokenBody = Type.Object(
  { userId: userIdField },
  { title: 'CreateUserTokenRequest', description: 'The user to act for.' },
)

export const sessionProperties = {
  userToken: Type.String({ description: 'The token, a JWT of one hour: send it in X-User-Token.' }),
  encryptionKey: Type.String({
    description: 'The base64 of 32 bytes that belong to this token, for the page that acts for the user.',
  }),
}
export const sessionAnswer = Type.Object(sessionProperties, {
  title: 'UserSession',
  description: 'A token of the user, and the key that belongs to it.',
})

export const keySetAnswer = Type.Object(
  {
    keys: Type.Array(
      Type.Record(Type.String(), Type.Unknown(), { description: 'A JSON Web Key (RFC 7517).' }),
      { description: 'The public keys, newest first.' },
    ),
  },
  { title: 'JsonWebKeySet', description: 'The public keys of the tokens.' },
)

export const userParams = Type.Object({
  id: Type.String({ description: 'The id that your app chose for the user.' }),
})

export const usersQuery = Type.Object({
  pinStatus: Type.Optional(described(secretStatusField, 'The status of the PIN.')),
  securityQuestionStatus: Type.Optional(
    described(secretStatusField, 'The status of the security questions.'),
  ),
})

const showDetails = ({ status: _, ...details }: SecretState) => details

export const showUser = ({ userId, status, createDate, pin, answers }: User) => ({
  id: userId,
  status,
  createDate,
  pinStatus: pin.status,
  pinDetails: showDetails(pin),
  securityQuestionStatus: answers.status,
  securityQuestionDetails: showDetails(answers),
})

import Type from 'typebox'
import { idField } from '#api/fields'
import { passwordLengthMax } from '#identity/members/index'
import { memberRoles } from '#runtime/scope'

const roleField = Type.Enum([...memberRoles], {
  title: 'MemberRole',
  description:
    "viewer: reads everything. developer: uses the customer's interface too. operator: decides reviews, sets policies and makes keys as well.",
})
const entityFields = {
  id: idField('The entity.'),
  name: Type.String({ description: 'Its name.' }),
  environment: Type.Enum(['TEST', 'LIVE'], { title: 'EntityEnvironment', description: 'Its environment.' }),
}

export const sessionSchema = Type.Object(
  {
    member: Type.Object(
      {
        id: idField('The member.'),
        name: Type.String({ description: 'The name that they sign in with.' }),
        role: roleField,
      },
      { description: 'Who signed in, with their role in the entity.' },
    ),
    entity: Type.Object(entityFields, { description: 'The entity that the session acts for.' }),
    entities: Type.Array(Type.Object({ ...entityFields, role: roleField }), {
      description: 'Every entity in which the member has a role.',
    }),
    hasCode: Type.Boolean({
      description: 'Whether the sign-in had a one-time code, which changes of a LIVE entity need.',
    }),
    csrfToken: Type.String({
      description: 'What every other request of the session has to send in the header X-Bezant-Console.',
    }),
    version: Type.String({ description: 'The version of the server.' }),
  },
  { title: 'Session', description: 'The session of a member. Its token is in a cookie alone.' },
)

export const signInWaysSchema = Type.Object(
  {
    provider: Type.Optional(Type.String({ description: 'The host of the provider; absent without one.' })),
  },
  { title: 'SignInWays', description: 'The ways to sign in besides a password.' },
)

export const signInBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64, description: 'The name of the member.' }),
    password: Type.String({ minLength: 1, maxLength: passwordLengthMax, description: 'The password.' }),
    code: Type.Optional(
      Type.String({
        pattern: '^[0-9]{6}$',
        description: 'The six digits of the authenticator, of a member who has one.',
      }),
    ),
    entityId: Type.Optional(
      idField('The entity to act for. Default: the first one in which the member got a role.'),
    ),
  },
  {
    title: 'SignInRequest',
    description: 'The sign-in.',
    examples: [{ name: 'alex', password: 'correct horse battery staple', code: '492039' }],
  },
)

export const chosenEntityBody = Type.Object(
  { entityId: idField('The entity to act for from now on.') },
  { title: 'ChooseEntityRequest', description: 'The entity.' },
)

const codeField = (description: string) => Type.String({ minLength: 6, maxLength: 6, description })

export const newCodesBody = Type.Object(
  {
    password: Type.String({ maxLength: passwordLengthMax, description: 'The password, again.' }),
    code: Type.Optional(codeField('The present one-time code, of a member who has codes.')),
  },
  { title: 'NewCodesRequest', description: 'What proves that it is the member who asks.' },
)

export const newCodesSchema = Type.Object(
  {
    secret: Type.String({ description: 'The secret, to type into an authenticator.' }),
    uri: Type.String({ description: 'The same as an `otpauth` address, which an authenticator opens.' }),
    pending: Type.String({
      description: 'The same, sealed for this session for 10 minutes: send it back with a code.',
    }),
  },
  { title: 'NewCodes', description: 'The secret of one-time codes that do not count yet.' },
)

export const confirmedCodesBody = Type.Object(
  {
    pending: Type.String({ minLength: 1, maxLength: 256, description: 'What the request before answered.' }),
    code: codeField('The six digits that the authenticator shows for the new secret.'),
  },
  { title: 'ConfirmCodesRequest', description: 'The first code of the new secret.' },
)

import Type from 'typebox'
import { createDateField, dateField, idField } from '#api/fields'
import { idParams } from '#runtime/http/openapi/annotate'
import { keyScopes } from '#runtime/scope'

const scopeField = Type.Enum([...keyScopes, 'client'], {
  title: 'KeyScope',
  description:
    "api: the customer's interface. operator:read, operator:write: that of operators. client: the JSON-RPC endpoint alone, for a key that a page holds; it has no other scope.",
})
const scopesField = Type.Array(scopeField, {
  minItems: 1,
  maxItems: 4,
  description: 'What the key opens.',
})

const addressField = Type.String({
  minLength: 2,
  maxLength: 45,
  description: 'An IP address, or a network such as `10.0.0.0/8`.',
})
const addressesField = (description: string) =>
  Type.Optional(Type.Array(addressField, { minItems: 1, maxItems: 32, description }))

const keyFields = {
  id: idField('The id, which is the middle part of the key without its hyphens.'),
  scopes: scopesField,
  isOwn: Type.Boolean({ description: 'Whether it is the key of this request.' }),
  createDate: createDateField,
  expireDate: Type.Optional(dateField('When it stops working; absent of a key that works for ever.')),
  allowedAddresses: addressesField('Where it may be used from; absent of a key that may be used everywhere.'),
  usedDate: Type.Optional(dateField('When it was used last, to two minutes; absent of one that never was.')),
  usedAddress: Type.Optional(
    Type.String({ description: 'The IP address from which it was used then.', examples: ['192.0.2.7'] }),
  ),
  revokedDate: Type.Optional(dateField('When it was revoked; absent of a key that works.')),
}

export const apiKeySchema = Type.Object(keyFields, {
  title: 'ApiKey',
  description: 'A key of the entity, without its secret.',
})

export const createdKeySchema = Type.Object(
  {
    ...keyFields,
    key: Type.String({
      description: 'The key. It is shown this once, and the server keeps only a hash of it.',
    }),
  },
  { title: 'CreatedApiKey', description: 'A new key with its secret.' },
)

export const apiKeyParams = idParams('ApiKeyId', 'the API key')

export const apiKeyBody = Type.Object(
  {
    scopes: Type.Optional({ ...scopesField, description: 'What the key opens. Default: api alone.' }),
    expireDate: Type.Optional(
      dateField(
        'When the key stops working. Default: when the key of the request does, which it cannot outlive.',
      ),
    ),
    allowedAddresses: addressesField(
      'Where the key may be used from. Default: where the key of the request may, of which these must be a part.',
    ),
  },
  {
    title: 'CreateApiKeyRequest',
    description: 'The key to create.',
    examples: [
      { scopes: ['api', 'operator:read'] },
      { expireDate: '2027-01-01T00:00:00.000Z', allowedAddresses: ['10.0.0.0/8'] },
    ],
  },
)

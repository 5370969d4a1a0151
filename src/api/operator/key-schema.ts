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

const keyFields = {
  id: idField('The id, which is the middle part of the key without its hyphens.'),
  scopes: scopesField,
  isOwn: Type.Boolean({ description: 'Whether it is the key of this request.' }),
  createDate: createDateField,
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
  },
  {
    title: 'CreateApiKeyRequest',
    description: 'The key to create.',
    examples: [{ scopes: ['api', 'operator:read'] }],
  },
)

import Type from 'typebox'
import { createDateField, idField } from '#api/fields'
import { idParams } from '#runtime/http/openapi/annotate'

const optional = Type.Optional

const methodField = Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], {
  title: 'RequestMethod',
  description: 'The HTTP method.',
})

export const requestFilters = Type.Object({
  method: optional(methodField),
  route: optional(
    Type.String({
      maxLength: 200,
      description: 'The documented path of an operation, such as /v1/w3s/wallets/{id}.',
    }),
  ),
  status: optional(
    Type.String({
      pattern: '^([1-5]xx|[1-5][0-9]{2})$',
      description: 'A status such as 404, or a class of them such as 4xx.',
    }),
  ),
  apiKeyId: optional(idField('The API key, by its id.')),
  idempotencyKey: optional(idField('The idempotency key.')),
  resourceId: optional(idField('The resource that was created, read or changed.')),
})

export const loggedRequestParams = idParams('LoggedRequestId', 'the request, or its X-Request-Id')

const fields = {
  id: idField('The id of the request: its X-Request-Id, unless the caller chose that.'),
  requestId: optional(idField('The X-Request-Id that the caller chose, if it is a UUID.')),
  method: methodField,
  path: Type.String({
    description: 'The path with its query. [redacted] stands for values that the log does not keep.',
  }),
  route: Type.String({ description: 'The documented path of the operation.' }),
  status: Type.Integer({ description: 'The HTTP status of the answer.' }),
  code: optional(Type.Integer({ description: 'The code of the error.' })),
  durationMs: Type.Integer({ description: 'The time from its arrival to its answer in milliseconds.' }),
  apiKeyId: optional(idField('The API key; absent for a request with the token of a user alone.')),
  idempotencyKey: optional(idField('The idempotency key.')),
  resourceId: optional(idField('The resource that the answer names, or else the path; absent for refusals.')),
  replayed: Type.Boolean({
    description: 'Whether the answer repeats that of an earlier request with the same idempotency key.',
  }),
  createDate: createDateField,
}

export const loggedRequestSchema = Type.Object(fields, {
  title: 'LoggedRequest',
  description: 'An answered request.',
})

const part = (description: string) =>
  Type.Object(
    {
      headers: Type.Record(Type.String(), Type.String(), {
        description: 'The headers that the log keeps; [redacted] for values that it does not.',
      }),
      body: optional(
        Type.String({
          description:
            'The body as JSON, without unknown fields, with [redacted] for values that the log does not keep. Of a long one the first 16 kB.',
        }),
      ),
      bodyBytes: optional(Type.Integer({ description: 'The size of the whole of this JSON.' })),
      bodySha256: optional(
        Type.String({ description: 'The SHA-256 of the whole of this JSON, where body is its beginning.' }),
      ),
    },
    { description },
  )

export const requestDetailSchema = Type.Object(
  {
    ...fields,
    ip: optional(Type.String({ description: 'The address of the caller; of IPv6 its network.' })),
    userAgent: optional(Type.String({ description: 'The products of the user agent.' })),
    request: optional(part('The request; absent where the log keeps no bodies, or no longer.')),
    response: optional(part('The answer; absent where the log keeps no bodies, or no longer.')),
  },
  { title: 'LoggedRequestDetail', description: 'An answered request with both bodies.' },
)

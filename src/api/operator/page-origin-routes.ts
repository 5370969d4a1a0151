import Type from 'typebox'
import { createDateField } from '#api/fields'
import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { pageOriginsMax, setPageOrigins } from '#runtime/page-origins/page-origins'
import { findPageOrigins } from '#runtime/page-origins/store'

const tag = 'Operator'

const pageOriginSchema = Type.Object(
  {
    origin: Type.String({ description: 'The origin, such as https://shop.example.' }),
    createDate: createDateField,
  },
  { title: 'PageOrigin', description: 'A site that may show the page of users in a frame.' },
)
const list = Type.Array(pageOriginSchema, {
  description: 'All origins of the entity, in alphabetical order.',
})

/** The sites whose pages may frame the page of users. */
export const pageOriginEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/pageOrigins',
    operationId: 'listPageOrigins',
    summary: 'List the sites that frame the page of users',
    description:
      'Lists the origins whose pages may show the page of users, with PIN and approvals, in a frame.',
    tag,
    auth: 'operator:read',
    response: list,
    errors: [],
    verb: (ctx: Ctx) => findPageOrigins(ctx.db, ctx.entity.id),
  }),
  endpoint({
    method: 'PUT',
    path: '/operator/pageOrigins',
    operationId: 'setPageOrigins',
    summary: 'Set the sites that frame the page of users',
    description:
      'Replaces the list. An origin has a scheme, a host and perhaps a port; plain http is for this machine alone, and there are no wildcards. It counts for the next page that is loaded.',
    tag,
    auth: 'operator:write',
    body: Type.Object(
      {
        origins: Type.Array(Type.String({ maxLength: 261, description: 'An origin.' }), {
          maxItems: pageOriginsMax,
          description: 'The whole list.',
        }),
      },
      { title: 'SetPageOriginsRequest', description: 'The list to set.' },
    ),
    response: list,
    errors: [],
    verb: (ctx: Ctx, { body }) => setPageOrigins(ctx, ctx.entity.id, body.origins),
  }),
]

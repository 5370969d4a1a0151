import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { findRequest, type RequestBodies, type RequestRow, requestsPage } from '#runtime/request-log/store'
import { presentFields } from './present-fields.ts'
import type { requestFilters } from './request-schema.ts'

export async function listRequests(
  ctx: Ctx,
  filters: Static<typeof requestFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await requestsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showRequest) }
}

export async function getRequest(ctx: Ctx, id: string) {
  const found = await findRequest(ctx.db, ctx.entity.id, id.toLowerCase())
  if (!found) throw notFound('request', id, 'requestNotFound')
  const { row, bodies } = found
  return {
    ...showRequest(row),
    ...presentFields({ ip: row.ip, userAgent: row.userAgent }),
    ...partsOf(bodies),
  }
}

const showRequest = ({ entityId: _, ip: _ip, userAgent: _agent, answeredAt: _at, ...row }: RequestRow) =>
  presentFields(row)

const partsOf = (bodies: RequestBodies | undefined) =>
  bodies && {
    request: presentFields({
      headers: bodies.requestHeaders,
      body: bodies.requestBody,
      bodyBytes: bodies.requestBytes,
      bodySha256: bodies.requestSha256,
    }),
    response: presentFields({
      headers: bodies.responseHeaders,
      body: bodies.responseBody,
      bodyBytes: bodies.responseBytes,
      bodySha256: bodies.responseSha256,
    }),
  }

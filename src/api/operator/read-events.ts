import { Readable } from 'node:stream'
import type { Static } from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { type FollowedEvent, followEvents, placeInTrail } from '#engines/audit/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { isUuid } from '#lib/ids'
import type { PageQuery } from '#runtime/collection/query'
import type { Arrived, ListResult } from '#runtime/http/endpoint'
import { eventsPage } from '#runtime/record/store'
import type { eventFilters, streamFilters } from './event-schema.ts'

export async function listEvents(
  ctx: Ctx,
  filters: Static<typeof eventFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await eventsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showEvent) }
}

type Shown = { requestId: string | null; recordedAt: string }

const showEvent = <Event extends Shown>({ requestId, recordedAt, ...event }: Event) => ({
  ...event,
  ...(requestId !== null && { requestId }),
  recordedDate: recordedAt,
})

export async function streamEvents(
  ctx: SandboxCtx,
  { after, type, resourceId }: Static<typeof streamFilters>,
  arrived: Arrived,
): Promise<Readable> {
  const last = lastEventId(arrived)
  const place = await placeInTrail(ctx.db, ctx.entity.id, last ?? after)
  if (place === undefined)
    throw invalid({
      at: last === undefined ? 'after' : 'Last-Event-ID',
      reason: 'matches no event of this entity: leave it out, and read what was missed from the list',
      value: last ?? after,
    })
  const followed = followEvents(ctx, {
    entityId: ctx.entity.id,
    after: place,
    restores: ctx.restores,
    matches: (event) =>
      (type === undefined || isOfType(event.type, type)) &&
      (resourceId === undefined || event.resourceId === resourceId),
  })
  return Readable.from(asText(followed))
}

const isOfType = (type: string, wanted: string): boolean =>
  wanted.endsWith('.*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted

function lastEventId({ rawHeaders }: Arrived): string | undefined {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'last-event-id')
  const id = at < 0 ? undefined : rawHeaders[at + 1]
  if (id === undefined || id === '') return undefined
  if (isUuid(id)) return id.toLowerCase()
  throw invalid({ at: 'Last-Event-ID', reason: 'is not the id of an event', value: id })
}

/** The first bytes tell the client that it is connected. */
async function* asText(followed: AsyncGenerator<FollowedEvent>): AsyncGenerator<string> {
  yield ': connected\n\n'
  for await (const each of followed) yield textOf(each)
}

function textOf(followed: FollowedEvent): string {
  if (followed.kind === 'silence') return ':\n\n'
  if (followed.kind === 'gap') {
    const { fromId, toId } = followed
    return `id: ${toId}\nevent: gap\ndata: ${JSON.stringify({ from: fromId, to: toId })}\n\n`
  }
  if (followed.kind === 'restored') {
    const { lastId = '', snapshot } = followed
    return `id: ${lastId}\nevent: lab.restored\ndata: ${JSON.stringify({ snapshot })}\n\n`
  }
  const { position: _, ...event } = followed.event
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(showEvent(event))}\n\n`
}

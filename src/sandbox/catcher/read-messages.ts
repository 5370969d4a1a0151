import { isUtf8 } from 'node:buffer'
import { invalid } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { keptPage } from '#runtime/collection/kept-page'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'
import { waitOf } from '../arrivals.ts'
import type { Catcher } from './catcher.ts'
import type { CaughtMessage } from './inboxes.ts'
import type { CaughtFilters } from './schema.ts'

export function caughtMessage({ inboxes }: Catcher, inbox: string, id: string): CaughtMessage {
  const message = inboxes.message(inbox, id.toLowerCase())
  if (!message) throw unknownMessage('id', id)
  return message
}

const unknownMessage = (at: string, id: string) =>
  invalid({ at, reason: 'matches no message of this inbox', value: id, kind: 'caughtMessageNotFound' })

/** One page of the messages of an inbox, newest first. With `wait`, the first page waits until it has a message. */
export async function listCaughtMessages(
  ctx: RequestScope,
  catcher: Catcher,
  inbox: string,
  query: CaughtFilters,
  asked: PageQuery,
): Promise<ListResult> {
  const waitMs = waitOf(query.wait)
  const isNewer = newerThan(catcher, inbox, query.after)
  const passes = passesOf(query)
  const matches = (message: CaughtMessage) => passes(message) && isNewer(message)
  const read = (page: PageQuery) =>
    keptPage(
      { rows: catcher.inboxes.messagesOf(inbox), dateMsOf: ({ receivedMs }) => receivedMs, matches },
      page,
    )
  const waits = waitMs > 0 && isOpen(query, asked)
  // A message that arrived since this request did is part of the page, or the wait would miss it.
  const upToNow = () => (waits ? { ...asked, toMs: Math.max(asked.toMs, ctx.clock.nowMs()) } : asked)
  let page = upToNow()
  let found = read(page)
  if (waits && found.rows.length === 0) {
    await catcher.arrivals.until((message) => message.inbox === inbox && passes(message), waitMs)
    page = upToNow()
    found = read(page)
  }
  return {
    found,
    items: await Promise.all(found.rows.map((row) => showMessage(ctx, catcher, row, shownMax))),
    page,
  }
}

/** Whether later messages belong to the page. */
const isOpen = (query: CaughtFilters, { pageAfter, pageBefore }: PageQuery) =>
  (query as { to?: string }).to === undefined && pageAfter === undefined && pageBefore === undefined

function newerThan({ inboxes }: Catcher, inbox: string, after: string | undefined) {
  if (after === undefined) return () => true
  const messages = inboxes.messagesOf(inbox)
  const at = messages.findIndex(({ id }) => id === after.toLowerCase())
  if (at < 0) throw unknownMessage('after', after)
  const older = new Set(messages.slice(at))
  return (message: CaughtMessage) => !older.has(message)
}

const passesOf =
  ({ topic, resourceId, messageId }: CaughtFilters) =>
  ({ own }: CaughtMessage): boolean =>
    (topic === undefined || isOfTopic(own?.topic, topic)) &&
    (resourceId === undefined || own?.resourceId === resourceId.toLowerCase()) &&
    (messageId === undefined || own?.messageId === messageId)

const isOfTopic = (topic: string | undefined, wanted: string): boolean =>
  topic === wanted || (wanted.endsWith('.*') && (topic ?? '').startsWith(wanted.slice(0, -1)))

/** Bytes of a body that a list shows. */
const shownMax = 65_536

export async function showMessage(
  { db }: Pick<RequestScope, 'db'>,
  catcher: Catcher,
  message: CaughtMessage,
  bytesMax = Number.POSITIVE_INFINITY,
) {
  const { id, inbox, method, path, query, own, bytes, receivedMs, answeredStatus, confirmation } = message
  return {
    id,
    inbox,
    method,
    path,
    query,
    headers: headersOf(message),
    ...showBody(bytes, bytesMax),
    bodyBytes: bytes.length,
    receivedDate: formatInstant(receivedMs),
    answeredStatus,
    ...(own && { line: own.line, messageId: own.messageId }),
    ...(own?.topic !== undefined && { topic: own.topic }),
    ...(own?.resourceId !== undefined && { resourceId: own.resourceId }),
    ...(confirmation && { confirmation }),
    signature: await catcher.signatureOf(db, message),
  }
}

function headersOf({ rawHeaders }: CaughtMessage): Record<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!]
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}

function showBody(bytes: Buffer, bytesMax: number) {
  if (!isUtf8(bytes)) return { body: bytes.toString('base64', 0, bytesMax), bodyEncoding: 'base64' }
  let end = Math.min(bytes.length, bytesMax)
  // A character of several bytes is shown whole or not at all.
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end -= 1
  return { body: bytes.toString('utf8', 0, end), bodyEncoding: 'utf8' }
}

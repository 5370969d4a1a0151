import { topics } from '#api/index'
import { isUuid } from '#lib/ids'
import type { Arrived } from '#runtime/http/endpoint'

/** The contents of a body that has the form of one of the platform's two lines of notifications. */
export type OwnMessage = {
  line: 'v1' | 'v2'
  messageId: string
  /** Absent of a request to confirm a subscription. */
  topic?: string
  resourceId?: string
  /** The state of the resource in the message, as its product names it. */
  state?: string
  /** All members of a v1 envelope that are texts. */
  envelope?: Record<string, string>
}

/** A larger body is kept, and not read: parsing it would hold up everything else. */
const readBytesMax = 262_144

export function readOwnMessage({ bytes, method }: Pick<Arrived, 'bytes' | 'method'>): OwnMessage | undefined {
  if (method !== 'POST' || bytes.length > readBytesMax) return undefined
  const body = objectIn(bytes.toString())
  if (!body) return undefined
  return readEnvelope(body) ?? readWebhook(body)
}

type JsonMembers = Record<string, unknown>

function readEnvelope(body: JsonMembers): OwnMessage | undefined {
  const { Type: type, MessageId: messageId, Message: message } = body
  if (typeof type !== 'string' || typeof messageId !== 'string' || typeof message !== 'string')
    return undefined
  const texts = Object.entries(body).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const own: OwnMessage = { line: 'v1', messageId, envelope: Object.fromEntries(texts) }
  const notice = type === 'Notification' ? objectIn(message) : undefined
  const topic = notice?.['notificationType']
  if (!notice || typeof topic !== 'string') return own
  const resource = notice[keysByTopic.get(topic) ?? '']
  return { ...own, topic, ...resourceIn(resource) }
}

const keysByTopic = new Map(
  Object.values(topics).flatMap((topic) => (topic.line === 'v1' ? [[topic.name, topic.key] as const] : [])),
)

function readWebhook(body: JsonMembers): OwnMessage | undefined {
  const { notificationId: messageId, notificationType: topic, notification } = body
  if (typeof messageId !== 'string' || typeof topic !== 'string' || !isUuid(messageId)) return undefined
  return { line: 'v2', messageId, topic, ...resourceIn(notification) }
}

function resourceIn(resource: unknown): Pick<OwnMessage, 'resourceId' | 'state'> {
  const members = typeof resource === 'object' && resource !== null ? (resource as JsonMembers) : {}
  // A payment by x402 has the name of its protocol for its id.
  const { paymentId, id = paymentId, state, status = state } = members
  return {
    ...(typeof id === 'string' && { resourceId: id }),
    ...(typeof status === 'string' && { state: status }),
  }
}

function objectIn(text: string): JsonMembers | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonMembers)
      : undefined
  } catch {
    return undefined
  }
}

import { invalid } from '#lib/errors'
import { type Listener, report } from './listeners.ts'
import type { AnswerBody } from './schema.ts'

/** Headers of the connection to the client's endpoint, which the connection of the platform has for itself. */
const ofConnection = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Whether a header can be sent: its name is a token, and its value has no control characters. */
const isHeader = (name: string, value: string) =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)

/** Answers a delivery as the client reports. Without an answer of its endpoint, it is a gateway that has none. */
export function reportAnswer(
  listener: Listener,
  { deliveryId, status, headers = {}, body = '', error }: AnswerBody,
): void {
  if ((status === undefined) === (error === undefined))
    throw invalid({ at: 'status', reason: 'must be sent, or `error` in its place', value: status })
  const entries = Object.entries(headers as Record<string, string>).filter(
    ([name, value]) => !ofConnection.has(name.toLowerCase()) && isHeader(name, value),
  )
  report(listener, deliveryId, {
    status: status ?? 502,
    headers: Object.fromEntries(entries),
    body: error ?? body,
  })
}

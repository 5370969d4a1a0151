import { deliveryTimeoutMs } from '#engines/webhooks/index'
import { type Answer, type Arrived, answer } from '#runtime/http/endpoint'
import { asksToConfirm } from '../catcher/confirm-subscription.ts'
import { readOwnMessage } from '../catcher/own-message.ts'
import { isCrowded, isWanted, passOn } from './listeners.ts'
import type { ListenerParts } from './open-listener.ts'

/** Takes a message of the platform, passes it on to the client and answers what that reports. */
export async function receiveDelivery(
  { listeners, confirmations, log }: ListenerParts,
  name: string,
  arrived: Arrived,
): Promise<Answer> {
  // Before it is subscribed, an endpoint is probed by HEAD.
  if (arrived.method !== 'POST') return answer(200, '')
  const own = readOwnMessage(arrived)
  if (!own) return answer(400, 'This endpoint takes notifications of this sandbox only.')
  if (asksToConfirm({ own })) {
    const confirmed = confirmations.confirm(arrived.path, { own })
    confirmed.catch((error) => log.error({ err: error, listener: name }, 'confirming failed'))
    return answer(200, 'The listener confirms by itself.')
  }
  if (own.topic === 'webhooks.test') return answer(200, '')
  const listener = listeners.list().find((each) => each.name === name)
  const { current } = listener ?? {}
  if (!listener || !current?.stream)
    return answer(503, `No client listens as ${name}: start bezant listen --name ${name}.`)
  if (!isWanted(current.wanted, own))
    return answer(200, `The client that listens as ${name} did not ask for ${own.line} ${own.topic ?? ''}.`)
  if (isCrowded(listener)) return answer(429, `Too many deliveries wait for an answer of ${name}.`)
  const { envelope: _, ...told } = own
  const { method, query, rawHeaders, bytes } = arrived
  const delivery = { ...told, method, query, headers: rawHeaders, body: bytes.toString('base64') }
  const reported = await passOn(listener, delivery, deliveryTimeoutMs[own.line])
  if (!reported) return answer(503, `The client that listens as ${name} ended before it answered.`)
  return answer(reported.status, reported.body, reported.headers)
}

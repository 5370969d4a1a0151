import { createPublicKey, verify } from 'node:crypto'
import type { Http } from '#testing/platform/tenant'
import { openReceiver, type Received, type Receiver } from './receiver.ts'

/** The body of a v2 webhook, with the headers that the request had. */
export type Webhook = {
  subscriptionId: string
  notificationId: string
  notificationType: string
  // biome-ignore lint/suspicious/noExplicitAny: each type has a resource of its own shape
  notification: any
  timestamp: string
  version: number
  order: number
}

export type WebhookReceiver = Receiver & {
  /** Every accepted webhook but tests, in the order of arrival, repetitions included. */
  webhooks(): Webhook[]
}

/** Opens a receiver that checks both signatures of every webhook and answers 400 to a wrong one; `http` fetches the keys. */
export async function openWebhookReceiver(http: Http): Promise<WebhookReceiver> {
  const taken: Webhook[] = []
  const receiver = await openReceiver(async (request) => {
    await verifyWebhook(request, http)
    const webhook = JSON.parse(request.body) as Webhook
    if (webhook.notificationType !== 'webhooks.test')
      taken.push({ ...webhook, order: Number(request.headers['x-bezant-order']) })
  })
  return { ...receiver, webhooks: () => [...taken] }
}

/**
 * Checks a webhook as its receiver should, sharing no code with the sender: by the public keys of the id in its header, over
 * the bytes that arrived. Throws with the reason.
 */
export async function verifyWebhook({ headers, bytes }: Received, http: Http): Promise<void> {
  const header = (name: string) => String(headers[name] ?? '')
  const { status, body: answer } = await http(
    'GET',
    `/v2/notifications/publicKey/${header('x-circle-key-id')}`,
  )
  if (status !== 200) throw new Error(`the key answered ${status}`)
  const { algorithm, publicKey, standardWebhooksKey } = answer.data
  if (algorithm !== 'ECDSA_SHA_256') throw new Error(`the algorithm ${algorithm}`)
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  if (!verify('sha256', bytes, key, Buffer.from(header('x-circle-signature'), 'base64')))
    throw new Error('an ECDSA signature that does not match')
  const signed = Buffer.concat([
    Buffer.from(`${header('webhook-id')}.${header('webhook-timestamp')}.`, 'utf8'),
    bytes,
  ])
  const x = Buffer.from(String(standardWebhooksKey).replace('whpk_', ''), 'base64').toString('base64url')
  const standardKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const [version, signature = ''] = header('webhook-signature').split(',')
  if (version !== 'v1a' || !verify(null, signed, standardKey, Buffer.from(signature, 'base64')))
    throw new Error('an Ed25519 signature that does not match')
}

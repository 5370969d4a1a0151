/**
 * The wire format of v2 notifications: compact JSON whose bytes are signed twice, with ECDSA as clients of the wallet product
 * check it, and with the headers of the Standard Webhooks specification.
 */
import type { WebhookSigner } from '#custody/installation/index'
import { formatInstant } from '#lib/time'
import type { Envelope } from './envelope.ts'

type WebhookInput = {
  signer: WebhookSigner
  subscriptionId: string
  notificationId: string
  notificationType: string
  /** The member `notification`, as JSON. */
  notification: string
  /** The creation date of the notification. */
  createDate: string
  /** Orders the notifications of a resource; undefined for a test. */
  orderNumber: number | undefined
  /** The time of this attempt. */
  sentMs: number
}

/** Builds and signs a webhook. Every attempt has the same body; the signed timestamp is that of the attempt. */
export async function makeWebhook({ signer, sentMs, ...input }: WebhookInput): Promise<Envelope> {
  const { subscriptionId, notificationId, notificationType, notification, createDate, orderNumber } = input
  // Nine fractional digits, as clients of the original parse them.
  const timestamp = createDate.replace('Z', '000000Z')
  const head = JSON.stringify({ subscriptionId, notificationId, notificationType }).slice(0, -1)
  const body = `${head},"notification":${notification},"timestamp":"${timestamp}","version":2}`
  const timestampSeconds = Math.floor(sentMs / 1_000)
  const signed = await signer.sign({ id: notificationId, timestampSeconds, body })
  const headers = {
    'Content-Type': 'application/json',
    'X-Circle-Key-Id': signed.keyId,
    'X-Circle-Signature': signed.signature,
    'webhook-id': notificationId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': `v1a,${signed.ed25519Signature}`,
    ...(orderNumber !== undefined && { 'X-Bezant-Order': String(orderNumber) }),
  }
  return { headers, body }
}

const zeroId = '00000000-0000-0000-0000-000000000000'

/** Builds the message that tests an endpoint before it is subscribed. */
export const makeTestWebhook = (signer: WebhookSigner, nowMs: number): Promise<Envelope> =>
  makeWebhook({
    signer,
    subscriptionId: zeroId,
    notificationId: zeroId,
    notificationType: 'webhooks.test',
    notification: '{"hello":"world"}',
    createDate: formatInstant(nowMs),
    orderNumber: undefined,
    sentMs: nowMs,
  })

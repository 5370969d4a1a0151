/** Webhooks of payments by x402, as their receiver checks them: each change is told as the status showed it. */
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fundedPayer, settlementRequest } from '#testing/builders/x402-payments'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
let receiver: WebhookReceiver

beforeAll(async () => {
  harness = await openHarness({ lab: true })
  receiver = await openWebhookReceiver(harness.http)
  const body = { endpoint: receiver.url, notificationTypes: ['x402.*'] }
  expect((await harness.http('POST', '/v2/notifications/subscriptions', { body })).status).toBe(200)
})
afterAll(async () => {
  await receiver?.close()
  await harness?.close()
})

const toldOf = (paymentId: string) =>
  receiver
    .webhooks()
    .filter(({ notification }) => notification.paymentId === paymentId)
    .map(({ notificationType, notification }) => {
      expect(notificationType).toBe('x402.payment')
      return notification
    })
const statesOf = (paymentId: string) => toldOf(paymentId).map(({ status, final }) => [status, final])
const statusOf = async (paymentId: string) =>
  (await harness.http('GET', `/v1/facilitator/x402/status/${paymentId}`)).body
const onChain = (verb: string, body: object = {}) =>
  harness.http('POST', `/sandbox/chains/${harness.chain().blockchain}/${verb}`, { body })

/** Asks for the settlement of a payment, waiting for its block no longer than a second. */
const settle = async (payer: PrivateKeyAccount) => {
  const body = await settlementRequest(harness, payer, { seconds: 1 })
  return (await harness.http('POST', '/v1/facilitator/x402/settle', { body })).body
}

describe('property 241: a payment by x402', () => {
  it('is told to subscribed endpoints, and its request is in the audit trail', async () => {
    const triggered = await harness.http('POST', '/sandbox/triggers', { body: { event: 'x402.payment' } })
    expect([triggered.status, triggered.body.message]).toEqual([201, undefined])
    const { id } = triggered.body.data.made.find(({ kind }: { kind: string }) => kind === 'x402Payment')
    await until(() => toldOf(id).some(({ final }) => final), 'its end is told')
    expect(statesOf(id)).toEqual([
      ['pending', undefined],
      ['completed', false],
      ['completed', true],
    ])
    expect(toldOf(id).at(-1)).toEqual(await statusOf(id))
    const { data } = (await harness.http('GET', `/operator/auditEntries?resourceId=${id}`)).body
    const requested = data.find(({ action }: { action: string }) => action === 'x402Payment.requested')
    expect(requested.actor).toMatch(/^key:/)
  })

  it('is told again where a reorg takes its block back', async () => {
    const payer = await fundedPayer(harness)
    await onChain('pause')
    try {
      const { paymentId } = await settle(payer)
      await until(() => toldOf(paymentId).length > 0, 'it is sent')
      await onChain('mine', { blocks: 1 })
      await until(() => toldOf(paymentId).some(({ status }) => status === 'completed'), 'its block is told')
      await onChain('reorg', { depth: 1, transactions: 'return' })
      await until(() => toldOf(paymentId).at(-1).status === 'pending', 'the reorg is told')
      await onChain('mine', { blocks: 1 })
      await until(() => toldOf(paymentId).at(-1).status === 'completed', 'its next block is told')
    } finally {
      await onChain('resume')
    }
  })

  it('is told where it was refused for good before it was sent', async () => {
    const payer = await fundedPayer(harness)
    await harness.stopEngines()
    const { success, paymentId } = await settle(payer)
    expect(success).toBe(false)
    harness.startEngines()
    await until(() => toldOf(paymentId).length > 0, 'its refusal is told')
    expect(toldOf(paymentId)).toMatchObject([
      { status: 'failed', errorMessage: expect.stringContaining('was not sent in time'), transaction: '' },
    ])
  })
})

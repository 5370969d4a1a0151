import { createVerify, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshAddress, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openReceiver, type Receiver } from '#testing/servers/receiver'

/*
 * Webhooks as the sample servers of other programs check them: with the key that the HTTP interface answers for the id in the
 * header, as a PEM file, over JSON that a framework has parsed and the server writes again.
 */
let harness: Harness
let receiver: Receiver
const accepted: Record<string, unknown>[] = []
beforeAll(async () => {
  harness = await openHarness()
  receiver = await openReceiver(async ({ headers, body }) => {
    const webhook = JSON.parse(body)
    const key = await publicKeyOf(String(headers['x-circle-key-id']))
    const verifier = createVerify('SHA256').update(JSON.stringify(webhook)).end()
    const signature = Uint8Array.from(Buffer.from(String(headers['x-circle-signature']), 'base64'))
    if (!verifier.verify(key, signature)) throw new Error('the signature is not valid')
    accepted.push(webhook)
  })
})
afterAll(async () => {
  await receiver?.close()
  await harness?.close()
})

const keys = new Map<string, string>()
async function publicKeyOf(id: string): Promise<string> {
  const known = keys.get(id)
  if (known) return known
  const answer = await fetch(`${harness.url}/v2/notifications/publicKey/${id}`, {
    headers: { accept: 'application/json', authorization: `Bearer ${harness.apiKey}` },
  })
  const { data } = (await answer.json()) as { data: { publicKey: string } }
  const lines = data.publicKey.match(/.{1,64}/g) ?? []
  const key = ['-----BEGIN PUBLIC KEY-----', ...lines, '-----END PUBLIC KEY-----'].join('\n')
  keys.set(id, key)
  return key
}

it('property 150: a sample server accepts each webhook of a transfer, from JSON that it parsed', async () => {
  const world = worldOf(harness)
  await world.call('POST', '/v2/notifications/subscriptions', { endpoint: receiver.url })
  expect(accepted).toMatchObject([{ notificationType: 'webhooks.test' }])
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await world.tenant.sealSecret(),
    walletId: (await world.fundedWallet()).id,
    tokenId: world.usdcId,
    destinationAddress: freshAddress(),
    amounts: ['0.50'],
    feeLevel: 'MEDIUM',
    refId: 'Straße </script> "1e3" \u{1f6d2} \u2028',
  })
  const states = () =>
    accepted.flatMap(({ notification }) => {
      const shown = notification as { id?: string; state?: string }
      return shown.id === id ? [shown.state] : []
    })
  await until(async () => states().includes('COMPLETE'), 'the transfer is reported as complete')
  expect(states()).toEqual(['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED', 'COMPLETE'])
  expect(receiver.received.filter(({ method }) => method === 'POST')).toHaveLength(accepted.length)
  expect(keys.size).toBe(1)
})

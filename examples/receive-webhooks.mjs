// An endpoint for webhooks of wallets: it checks both signatures over the bytes that arrive, and drops duplicates. As a
// program it subscribes, gets a wallet some coins, prints what it is notified of, and deletes the subscription.
//
//   npm start -- --chains BASE-SEPOLIA   in one terminal; omit --chains to start all
//   node examples/receive-webhooks.mjs   in another
import { createPublicKey, verify } from 'node:crypto'
import { createServer } from 'node:http'
import { findSandbox, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const { apiKey, entitySecret, url: baseUrl } = await findSandbox()
const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })

const keys = new Map()
/** The public keys of an id never change: they are fetched once. */
async function keysOf(id) {
  if (!keys.has(id)) keys.set(id, (await client.getNotificationSignature(id)).data)
  const { publicKey, standardWebhooksKey } = keys.get(id)
  const x = Buffer.from(standardWebhooksKey.replace('whpk_', ''), 'base64').toString('base64url')
  return {
    ecdsa: createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' }),
    ed25519: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
  }
}

async function check(headers, body) {
  const { ecdsa, ed25519 } = await keysOf(headers['x-circle-key-id'])
  if (!verify('sha256', body, ecdsa, Buffer.from(headers['x-circle-signature'], 'base64')))
    throw new Error('X-Circle-Signature does not match')
  // This one also covers the time of sending: an old request cannot be repeated by others.
  const timestamp = headers['webhook-timestamp']
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > 300) throw new Error('too old')
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${timestamp}.`), body])
  const signature = headers['webhook-signature'].split(' ').find((each) => each.startsWith('v1a,'))
  if (!verify(null, signed, ed25519, Buffer.from(signature.slice(4), 'base64')))
    throw new Error('webhook-signature does not match')
}

const seen = new Map()
const server = createServer(async (request, response) => {
  try {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (request.method === 'POST') {
      await check(request.headers, body)
      const webhook = JSON.parse(body)
      // Delivery is at least once: the same notification may arrive again.
      seen.set(webhook.notificationId, webhook)
    }
    response.writeHead(200).end()
  } catch (error) {
    response.writeHead(400).end(String(error))
  }
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const endpoint = `http://127.0.0.1:${server.address().port}/`

const subscription = (await client.createSubscription({ endpoint })).data
console.log(`${endpoint} answered the ${[...seen.values()][0].notificationType}`)
try {
  const { walletSet } = (await client.createWalletSet({ name: 'Webhooks' })).data
  const walletRequest = { walletSetId: walletSet.id, blockchains: ['BASE-SEPOLIA'], count: 1 }
  const [wallet] = (await client.createWallets(walletRequest)).data.wallets
  await client.requestTestnetTokens({ address: wallet.address, blockchain: 'BASE-SEPOLIA', usdc: true })
  const { notificationType, notification } = await waitFor('the notification', () =>
    [...seen.values()].find(
      (webhook) => webhook.notification.walletId === wallet.id && webhook.notification.state === 'COMPLETE',
    ),
  )
  console.log(`${notificationType}: ${notification.amounts[0]} USDC are ${notification.state}`)
} finally {
  await client.deleteSubscription(subscription.id)
  server.closeAllConnections()
  server.close()
}

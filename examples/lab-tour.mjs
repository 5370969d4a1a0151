// A tour of the lab: a transfer and its timeline, a node that loses an answer, a reorg, the state from before all of it, three
// days in a second, and a webhook sent again to a program on this machine. Each step is an operation of docs/lab.md.
//
//   npm start -- --chains BASE-SEPOLIA  in one terminal; omit --chains to start all
//   node examples/lab-tour.mjs          in another
import { once } from 'node:events'
import { createServer } from 'node:http'
import { chainOf, findSandbox, startBezant, waitFor } from './sandbox.mjs'

const { initiateDeveloperControlledWalletsClient } = await import('@circle-fin/developer-controlled-wallets')
const sandbox = await findSandbox()
const { apiKey, entitySecret, url: baseUrl } = sandbox
const { blockchain } = chainOf(sandbox, 'BASE-SEPOLIA')
const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl })
const tour = `tour-${Date.now()}`

// A program that receives webhooks, and the command that passes them on to it. It refuses the first.
const told = []
const app = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { Message } = JSON.parse(Buffer.concat(chunks))
    if (Message) told.push(JSON.parse(Message))
    response.writeHead(told.length === 1 ? 503 : 200).end()
  })
}).listen(0, '127.0.0.1')
await once(app, 'listening')
const forwardTo = `http://127.0.0.1:${app.address().port}/webhooks?key=1`
const topics = 'paymentIntents'
const listen = startBezant([
  'listen',
  '--name',
  tour,
  '--line',
  'v1',
  '--topics',
  topics,
  '--forward-to',
  forwardTo,
])
await listening()

const { walletSet } = (await client.createWalletSet({ name: 'Tour' })).data
const { wallets } = (
  await client.createWallets({ walletSetId: walletSet.id, blockchains: [blockchain], count: 2 })
).data
const [payer, payee] = wallets
for (const token of ['NATIVE', 'USDC'])
  await call('POST', '/sandbox/faucet', { address: payer.address, blockchain, token, amount: '1000' })
const usdc = await waitFor('the coins', async () => {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id: payer.id })).data
  return tokenBalances.find(({ token }) => token.symbol === 'USDC')
})
console.log(`the payer has ${usdc.amount} USDC`)

const first = await transfer('10')
const { lanes, states } = await timelineOf(first.id)
console.log(`the timeline of a transfer has ${lanes.length} lanes: ${namesOf(states).join(', ')}`)

await call('POST', '/sandbox/snapshots', { name: tour })
console.log('saved')

// The node accepts the transaction, and the connection ends before its answer.
await call('PUT', '/sandbox/faults', {
  apiVersion: 'bezant/v1',
  seed: 7,
  rules: [
    {
      name: 'answer-lost',
      on: 'node',
      match: { caller: 'platform', method: 'eth_sendRawTransaction' },
      when: { times: 1 },
      do: { reply: 'resetAfter' },
    },
  ],
})
const second = await transfer('20')
const [met] = await call('GET', '/sandbox/faults/met')
await call('DELETE', '/sandbox/faults')
console.log(
  `met ${met.rule}, and the second transfer is ${second.state}; the payee has ${await held(payee)} USDC`,
)

const { headNumber } = (await call('GET', '/sandbox/chains')).find((chain) => chain.blockchain === blockchain)
const depth = headNumber - second.blockHeight + 1
const { orphaned, returned } = await call('POST', `/sandbox/chains/${blockchain}/reorg`, { depth })
if (!returned.includes(second.txHash)) throw new Error('the reorg did not replace the transfer')
const passed = await waitFor('the transfer, mined again', async () => {
  const names = namesOf((await timelineOf(second.id)).states)
  return names.filter((name) => name === 'COMPLETE').length > 1 && names
})
console.log(`a reorg replaced ${orphaned.length} blocks: ${passed.join(', ')}`)

await call('POST', `/sandbox/snapshots/${tour}/restore`)
const gone = await client.getTransaction({ id: second.id }).then(
  () => 'there',
  ({ status, response }) => `answered with ${response?.status ?? status}`,
)
console.log(`restored: the second transfer is ${gone}, and the payee has ${await held(payee)} USDC`)

await listening()
const intent = await call('POST', '/v1/paymentIntents', {
  idempotencyKey: crypto.randomUUID(),
  type: 'transient',
  amount: { amount: '25.00', currency: 'USD' },
  settlementCurrency: 'USD',
  paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
})
const { fired } = await call('POST', '/sandbox/clock/advance', { by: 'P3D' })
if (!fired.some(({ resourceId }) => resourceId === intent.id)) throw new Error('the intent did not expire')
const expired = await waitFor('the webhook of the expiry', async () => {
  const notifications = await call('GET', `/operator/notifications?resourceId=${intent.id}`)
  return notifications.find(
    ({ message, deliveries }) =>
      message.includes('expired') && deliveries.every(({ state }) => state === 'delivered'),
  )
})
console.log(`three days later the intent has expired, and the program was told ${timesTold()} times`)

await call('POST', `/operator/notifications/${expired.id}/resend`)
await waitFor('the webhook, sent again', async () => timesTold() > 1)
const [{ subscriptionId }] = expired.deliveries
const replay = await call('POST', `/operator/subscriptions/${subscriptionId}/replays`, {
  from: intent.createDate,
  state: 'all',
})
const { done } = await waitFor('the replay', async () => {
  const now = await call('GET', `/operator/subscriptions/${subscriptionId}/replays/${replay.id}`)
  return now.state === 'done' && now
})
console.log(
  `sent again, and replayed: ${done} webhooks, of which the program was told ${timesTold()} times of the expiry`,
)

listen.kill()
await once(listen, 'exit')
await call('DELETE', `/sandbox/listeners/${tour}`)
await call('DELETE', `/sandbox/snapshots/${tour}`)
app.close()

/** Calls an operation, and returns the `data` of its answer. */
async function call(method, path, body) {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(method !== 'GET' && method !== 'DELETE' && { body: JSON.stringify(body ?? {}) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} was refused with ${response.status}: ${text}`)
  return text && JSON.parse(text).data
}

/** Waits until the command listens: after a restore it subscribes again, since its subscription was made later. */
function listening() {
  return waitFor('the listener', async () => {
    const listeners = await call('GET', '/sandbox/listeners')
    return listeners.some(({ id, isConnected }) => id === tour && isConnected)
  })
}

async function transfer(amount) {
  const { id } = (
    await client.createTransaction({
      walletId: payer.id,
      tokenId: usdc.token.id,
      destinationAddress: payee.address,
      amount: [amount],
      fee: { type: 'level', config: { feeLevel: 'HIGH' } },
    })
  ).data
  return (await client.getTransaction({ id, waitForState: 'COMPLETE', pollingInterval: 50 })).data.transaction
}

async function held({ id }) {
  const { tokenBalances } = (await client.getWalletTokenBalance({ id })).data
  return tokenBalances.find(({ token }) => token.symbol === 'USDC')?.amount ?? '0'
}

function timelineOf(id) {
  return call('GET', `/operator/movements/${id}/timeline`)
}

function namesOf(states) {
  return states.map(({ state }) => state)
}

/** How often the program was told that the intent has expired. */
function timesTold() {
  return told.filter(({ paymentIntent }) => paymentIntent?.timeline[0].status === 'expired').length
}

// A small shop that sells for stablecoins: it asks Bezant for an address for each order, and learns by webhooks what becomes of it.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { readMessage } from './check-message.js'

/** `bezant` is `{ url, apiKey }`. Returns the shop, which listens for webhooks on this machine. */
export async function openShop(bezant) {
  const orders = new Map()
  const seen = new Set()

  /** Delivery is at least once and in any order: a message counts once, and an older version of an intent not at all. */
  function take({ messageId, content }) {
    if (seen.has(messageId)) return
    seen.add(messageId)
    const { notificationType, paymentIntent } = content
    const order = [...orders.values()].find(({ intentId }) => intentId === paymentIntent?.id)
    if (notificationType !== 'paymentIntents' || !order || paymentIntent.updateDate < order.asOf) return
    Object.assign(order, {
      asOf: paymentIntent.updateDate,
      state: stateOf(paymentIntent),
      counted: order.counted + 1,
    })
  }

  const server = createServer(async (request, response) => {
    try {
      let text = ''
      for await (const chunk of request) text += chunk
      const message = request.method === 'POST' && (await readMessage(text, bezant.url))
      if (message) take(message)
      response.writeHead(200).end()
    } catch (error) {
      response.writeHead(400).end(String(error))
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const webhooks = `http://127.0.0.1:${server.address().port}/webhooks`

  return {
    webhooks,
    orders,
    /** Lets Bezant report to this shop. */
    subscribe: () => ask(bezant, 'POST', '/v1/notifications/subscriptions', { endpoint: webhooks }),
    /** Sells for so many dollars: the order has the address to pay to. */
    async sell(amount) {
      const intent = await ask(bezant, 'POST', '/v1/paymentIntents', {
        idempotencyKey: randomUUID(),
        type: 'transient',
        amount: { amount, currency: 'USD' },
        settlementCurrency: 'USD',
        paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
      })
      const order = {
        id: randomUUID(),
        intentId: intent.id,
        address: intent.paymentMethods[0].address,
        state: 'open',
        asOf: intent.createDate,
        counted: 0,
      }
      orders.set(order.id, order)
      return order
    },
    /** Returns the money of an order to an address. */
    refund: ({ intentId }, amount, address) =>
      ask(bezant, 'POST', `/v1/paymentIntents/${intentId}/refund`, {
        idempotencyKey: randomUUID(),
        destination: { chain: 'BASE', address },
        amount: { currency: 'USD' },
        toAmount: { amount, currency: 'USD' },
      }),
    /** Pays a supplier, whose address is entered first. */
    async payOut(amount, address) {
      const recipient = await ask(bezant, 'POST', '/v1/addressBook/recipients', {
        idempotencyKey: randomUUID(),
        chain: 'BASE',
        address,
        metadata: { nickname: 'Supplier' },
      })
      while ((await ask(bezant, 'GET', `/v1/addressBook/recipients/${recipient.id}`)).status !== 'active')
        await new Promise((resolve) => setTimeout(resolve, 50))
      return ask(bezant, 'POST', '/v1/payouts', {
        idempotencyKey: randomUUID(),
        destination: { type: 'address_book', id: recipient.id },
        amount: { amount, currency: 'USD' },
      })
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The state of an order by that of its payment intent. */
function stateOf({ timeline: [{ status, context }], amountPaid }) {
  if (status === 'complete') return context
  if (status === 'pending' || status === 'active') return Number(amountPaid.amount) > 0 ? 'part paid' : 'open'
  return status
}

/** A request whose answer is lost is sent again as it was: with its idempotency key it is done once. */
async function ask({ url, apiKey }, method, path, body, triesLeft = 3) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) }).catch(
    (error) => {
      if (triesLeft === 0) throw error
    },
  )
  if (!response) return ask({ url, apiKey }, method, path, body, triesLeft - 1)
  const { data, message } = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${message}`)
  return data
}

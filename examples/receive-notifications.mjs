// An endpoint for notifications: it confirms its subscription, checks every signature, answers 200 and drops duplicates.
// As a program it subscribes, creates a payment intent, receives its notification, and deletes the subscription. Other
// programs import `receiveNotifications`.
//
//   npm start -- --chains BASE-SEPOLIA       in one terminal; omit --chains to start all
//   node examples/receive-notifications.mjs  in another
import { createVerify, X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import { findSandbox } from './sandbox.mjs'

const { Circle } = await import('@circle-fin/circle-sdk')

/** Listens on this machine. `next` resolves with the first notification of a type, past or future, that matches. */
export async function receiveNotifications(bezantUrl) {
  const seen = new Map()
  const waiting = new Set()
  const take = async (text) => {
    const message = JSON.parse(text)
    await verify(message, bezantUrl)
    if (message.Type === 'SubscriptionConfirmation') {
      if (!(await fetch(message.SubscribeURL)).ok) throw new Error('the subscription could not be confirmed')
      return
    }
    // Delivery is at least once: the same message may arrive again.
    if (seen.has(message.MessageId)) return
    seen.set(message.MessageId, JSON.parse(message.Message))
    for (const look of waiting) look()
  }
  const server = createServer(async (request, response) => {
    try {
      let text = ''
      for await (const chunk of request) text += chunk
      if (request.method === 'POST') await take(text)
      response.writeHead(200).end()
    } catch (error) {
      response.writeHead(400).end(String(error))
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    next: (type, fits = () => true, withinMs = 30_000) =>
      new Promise((resolve, reject) => {
        const end = (settle) => (value) => {
          clearTimeout(timer)
          waiting.delete(look)
          settle(value)
        }
        const timer = setTimeout(() => end(reject)(new Error(`no matching notification: ${type}`)), withinMs)
        const look = () => {
          const found = [...seen.values()].find((each) => each.notificationType === type && fits(each))
          if (found) end(resolve)(found)
        }
        waiting.add(look)
        look()
      }),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The signature covers these members, in this order, each with its name in a line before it. */
const signed = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
const certificates = new Map()

async function verify(message, bezantUrl) {
  // An attacker who can choose the certificate can sign anything: it must come from the trusted server.
  if (new URL(message.SigningCertURL).origin !== new URL(bezantUrl).origin)
    throw new Error(`untrusted certificate: ${message.SigningCertURL}`)
  if (!certificates.has(message.SigningCertURL))
    certificates.set(message.SigningCertURL, await (await fetch(message.SigningCertURL)).text())
  const { publicKey } = new X509Certificate(certificates.get(message.SigningCertURL))
  const names = signed.filter((name) => message[name] !== undefined)
  const text = names.map((name) => `${name}\n${message[name]}\n`).join('')
  const hash = message.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
  if (!createVerify(hash).update(text).verify(publicKey, message.Signature, 'base64'))
    throw new Error('the signature does not match')
}

/** Resolves when both regions of the subscription are confirmed. */
export async function untilConfirmed(circle, id) {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const { data } = await circle.subscriptions.listSubscriptions()
    const { subscriptionDetails } = data.data.find((each) => each.id === id)
    if (subscriptionDetails.every(({ status }) => status === 'confirmed')) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the subscription was not confirmed within 30 seconds')
}

async function main() {
  const sandbox = await findSandbox()
  const circle = new Circle(sandbox.apiKey, sandbox.url)
  const receiver = await receiveNotifications(sandbox.url)
  const { data } = await circle.subscriptions.createSubscription({ endpoint: receiver.url })
  const subscription = data.data
  await untilConfirmed(circle, subscription.id)
  console.log(`${receiver.url} is confirmed in ${subscription.subscriptionDetails.length} regions`)
  try {
    const { data: made } = await circle.cryptoPaymentIntents.createPaymentIntent({
      idempotencyKey: crypto.randomUUID(),
      type: 'continuous',
      currency: 'USD',
      settlementCurrency: 'USD',
      paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
    })
    const notice = await receiver.next(
      'paymentIntents',
      ({ paymentIntent }) => paymentIntent.id === made.data.id,
    )
    console.log(
      `notified: payment intent ${notice.paymentIntent.id} is ${notice.paymentIntent.timeline[0].status}`,
    )
  } finally {
    await circle.subscriptions.deleteSubscription(subscription.id)
    receiver.close()
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main()

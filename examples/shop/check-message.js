// Reads a notification, and refuses what Bezant has not signed: see docs/notifications.md.
import { createVerify, X509Certificate } from 'node:crypto'

/** The signature covers these members, in this order, each with its name in a line before it. */
const signed = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
const certificates = new Map()

/** Returns `{ messageId, content }`; nothing for a request to confirm the subscription, which it does. */
export async function readMessage(text, bezantUrl) {
  const message = JSON.parse(text)
  await check(message, bezantUrl)
  if (message.Type !== 'SubscriptionConfirmation')
    return { messageId: message.MessageId, content: JSON.parse(message.Message) }
  if (!(await fetch(message.SubscribeURL)).ok) throw new Error('the subscription could not be confirmed')
}

async function check(message, bezantUrl) {
  const address = message.SigningCertURL
  // An attacker who can choose the certificate can sign anything: it must come from the trusted server.
  if (new URL(address).origin !== new URL(bezantUrl).origin)
    throw new Error(`untrusted certificate: ${address}`)
  if (!certificates.has(address)) certificates.set(address, await (await fetch(address)).text())
  const { publicKey } = new X509Certificate(certificates.get(address))
  const names = signed.filter((name) => message[name] !== undefined)
  const text = names.map((name) => `${name}\n${message[name]}\n`).join('')
  const hash = message.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
  if (!createVerify(hash).update(text).verify(publicKey, message.Signature, 'base64'))
    throw new Error('the signature does not match')
}

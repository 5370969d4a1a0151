import { createVerify, X509Certificate } from 'node:crypto'

/** A message as its receiver has it. */
export type SnsMessage = {
  Type: 'SubscriptionConfirmation' | 'Notification'
  MessageId: string
  TopicArn: string
  Message: string
  Timestamp: string
  SignatureVersion: '1' | '2'
  Signature: string
  SigningCertURL: string
  Token?: string
  SubscribeURL?: string
  UnsubscribeURL?: string
  MessageAttributes?: Record<string, { Type: string; Value: string }>
}

/**
 * Checks a message as its receiver should, sharing no code with the sender: the certificate comes from where receivers
 * expect it, is good today, and signed the canonical text. Throws with the reason.
 */
export async function verifyMessage(message: SnsMessage, hostPattern: RegExp): Promise<void> {
  const url = new URL(message.SigningCertURL)
  if (!hostPattern.test(url.host)) throw new Error(`a certificate from ${url.host}`)
  if (!url.pathname.endsWith('.pem')) throw new Error('a certificate that is no .pem')
  const response = await fetch(url)
  if (!response.ok) throw new Error(`the certificate answered ${response.status}`)
  const pem = await response.text()
  const certificate = new X509Certificate(pem)
  if (!certificate.verify(certificate.publicKey)) throw new Error('a certificate that did not sign itself')
  const nowMs = Date.parse(message.Timestamp)
  if (nowMs < Date.parse(certificate.validFrom) || nowMs > Date.parse(certificate.validTo))
    throw new Error(`a certificate good from ${certificate.validFrom} to ${certificate.validTo}`)
  const names =
    message.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const values = message as unknown as Record<string, string | undefined>
  let text = ''
  for (const name of names) if (values[name] !== undefined) text += `${name}\n${values[name]}\n`
  const verify = createVerify(message.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
  verify.update(text, 'utf8')
  if (!verify.verify(pem, message.Signature, 'base64')) throw new Error('a signature that does not match')
}

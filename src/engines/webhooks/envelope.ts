/**
 * The wire format of v1 notifications: messages as Amazon SNS writes and signs them, from two regions, with our own
 * certificate. Receivers check the signature over the canonical text with the certificate at `SigningCertURL`.
 */
import type { Notary } from '#custody/installation/index'
import type { Region } from './store/subscriptions.ts'

const account = '908968368384'

const topicArn = (environment: 'TEST' | 'LIVE', region: Region): string =>
  `arn:aws:sns:${region}:${account}:${environment === 'TEST' ? 'sandbox' : 'prod'}_platform-notifications-topic`

/** The ARN under which a region of a subscription is shown. */
export const subscriptionArn = (environment: 'TEST' | 'LIVE', region: Region, detailId: string): string =>
  `${topicArn(environment, region)}:${detailId}`

/** The purpose of a link. Following the link proves that the message that contains it was received. */
export type LinkPurpose = 'confirm' | 'unsubscribe'

export const tokenOf = (notary: Notary, purpose: LinkPurpose, detailId: string): string =>
  linkToken(detailId, notary.tokenOf(purpose, detailId))

/** The token of a link that was made now, and those of links that were made before the root key was rotated. */
export const linkTokensOf = (notary: Notary, purpose: LinkPurpose, detailId: string): string[] =>
  notary.tokensOf(purpose, detailId).map((proof) => linkToken(detailId, proof))

const linkToken = (detailId: string, proof: string) => detailId.replaceAll('-', '') + proof

type EnvelopeInput = {
  notary: Notary
  signatureVersion: 1 | 2
  /** Base URL of this API, without a trailing slash. */
  baseUrl: string
  environment: 'TEST' | 'LIVE'
  region: Region
  detailId: string
  entityId: string
  messageId: string
  timestamp: string
  /** Null for a subscription confirmation. */
  message: string | null
}

export type Envelope = { headers: Record<string, string>; body: string }

/** Builds and signs an envelope. The same input and certificate give the same bytes. */
export async function makeEnvelope(input: EnvelopeInput): Promise<Envelope> {
  const { environment, region, detailId, messageId } = input
  const isConfirmation = input.message === null
  const arn = topicArn(environment, region)
  const type = isConfirmation ? 'SubscriptionConfirmation' : 'Notification'
  const signed = {
    Type: type,
    MessageId: messageId,
    TopicArn: arn,
    Message: input.message ?? confirmationText(arn),
    ...(isConfirmation && confirmationFields(input, arn)),
    Timestamp: input.timestamp,
  }
  const hash = input.signatureVersion === 1 ? 'sha1' : 'sha256'
  const { signature, certificateId } = await input.notary.sign(canonicalText(signed), hash)
  const body = JSON.stringify({
    ...signed,
    SignatureVersion: String(input.signatureVersion),
    Signature: signature,
    SigningCertURL: `${input.baseUrl}/v1/notifications/certificates/${certificateId}.pem`,
    ...(!isConfirmation && notificationFields(input)),
  })
  const headers = {
    'Content-Type': 'text/plain; charset=UTF-8',
    'x-amz-sns-message-type': type,
    'x-amz-sns-message-id': messageId,
    'x-amz-sns-topic-arn': arn,
    ...(!isConfirmation && { 'x-amz-sns-subscription-arn': subscriptionArn(environment, region, detailId) }),
  }
  return { headers, body }
}

const confirmationText = (arn: string) =>
  `You have chosen to subscribe to the topic ${arn}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`

function confirmationFields({ notary, baseUrl, detailId }: EnvelopeInput, arn: string) {
  const token = tokenOf(notary, 'confirm', detailId)
  const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: arn, Token: token })
  return { Token: token, SubscribeURL: `${baseUrl}/v1/notifications/confirm?${query}` }
}

function notificationFields({ notary, baseUrl, environment, region, detailId, entityId }: EnvelopeInput) {
  const query = new URLSearchParams({
    Action: 'Unsubscribe',
    SubscriptionArn: subscriptionArn(environment, region, detailId),
    Token: tokenOf(notary, 'unsubscribe', detailId),
  })
  return {
    UnsubscribeURL: `${baseUrl}/v1/notifications/unsubscribe?${query}`,
    MessageAttributes: { clientId: { Type: 'String', Value: entityId } },
  }
}

const signedNames = [
  'Message',
  'MessageId',
  'Subject',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
]

/** Returns the text to sign: name and value of each signed member that is present, one per line. */
const canonicalText = (fields: Record<string, string>): string =>
  signedNames.flatMap((name) => (name in fields ? [`${name}\n${fields[name]}\n`] : [])).join('')

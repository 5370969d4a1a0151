import { until } from '#testing/platform/until'
import { openReceiver, type Receiver } from './receiver.ts'
import { type SnsMessage, verifyMessage } from './sns-signature.ts'

export type { Behaviour, Received } from './receiver.ts'

/** Content of a notification, inside its `Message`. */
export type Notice = {
  messageId: string
  clientId: string
  notificationType: string
  version: number
  customAttributes: { clientId: string }
  // biome-ignore lint/suspicious/noExplicitAny: the resource is a member named by its type
  [resource: string]: any
}

/** A server that receives notifications: it answers 200, keeps all messages and checks every signature. */
export type WebhookSink = Receiver & {
  /** Every accepted message, in the order of arrival, repetitions included. */
  messages(type?: SnsMessage['Type']): SnsMessage[]
  /** Accepted notifications, of one `notificationType` if it is named. */
  notices(notificationType?: string): Notice[]
  /** Opens the SubscribeURL of every confirmation that came for this path, once there are `regions` of them. */
  confirm(options?: { regions?: number; path?: string }): Promise<void>
}

/** Opens a sink on a free port of this machine. A message with a wrong signature makes it answer 400. */
export async function openWebhookSink({
  certificateHost = /^127\.0\.0\.1:\d+$/,
}: {
  certificateHost?: RegExp
} = {}): Promise<WebhookSink> {
  const taken: { message: SnsMessage; path: string }[] = []
  const receiver = await openReceiver(async (request) => {
    const message = JSON.parse(request.body) as SnsMessage
    await verifyMessage(message, certificateHost)
    taken.push({ message, path: request.path })
  })
  const messages = (type?: SnsMessage['Type']) =>
    taken.map(({ message }) => message).filter((message) => type === undefined || message.Type === type)
  return {
    ...receiver,
    messages,
    notices: (notificationType) =>
      messages('Notification')
        .map(({ MessageId, Message }) => ({ messageId: MessageId, ...JSON.parse(Message) }) as Notice)
        .filter((notice) => notificationType === undefined || notice.notificationType === notificationType),
    confirm: async ({ regions = 2, path = '/notifications' } = {}) => {
      const asked = () =>
        new Map(
          taken
            .filter((each) => each.path === path && each.message.Type === 'SubscriptionConfirmation')
            .map(({ message }) => [message.TopicArn, message.SubscribeURL!]),
        )
      await until(async () => asked().size >= regions, `${regions} regions are asked to confirm`)
      for (const url of [...asked().values()].slice(0, regions)) {
        const answer = await fetch(url)
        if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
      }
    },
  }
}

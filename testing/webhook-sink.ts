import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type SnsMessage, verifyMessage } from './sns-signature.ts'
import { until } from './until.ts'

export type Received = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  atMs: number
}

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

/** Answers a request in place of the sink; `taken` runs the sink's own behaviour. */
export type Behaviour = (received: Received, response: ServerResponse, taken: () => void) => void

/** A server that receives notifications: it answers 200, keeps all messages and checks every signature. */
export type WebhookSink = {
  /** The URL to subscribe; paths below it arrive here too. */
  url: string
  received: Received[]
  /** Every accepted message, in the order of arrival, repetitions included. */
  messages(type?: SnsMessage['Type']): SnsMessage[]
  /** Accepted notifications, of one `notificationType` if it is named. */
  notices(notificationType?: string): Notice[]
  /** Answers requests like this from now on; without an argument as the sink itself. */
  behave(behaviour?: Behaviour): void
  /** Opens the SubscribeURL of every confirmation that came for this path, once there are `regions` of them. */
  confirm(options?: { regions?: number; path?: string }): Promise<void>
  close(): Promise<void>
}

/** Opens a sink on a free port of this machine. A message with a wrong signature makes it answer 400. */
export async function openWebhookSink({
  certificateHost = /^127\.0\.0\.1:\d+$/,
  unref = false,
}: {
  certificateHost?: RegExp /** Does not keep the process alive. */
  unref?: boolean
} = {}): Promise<WebhookSink> {
  const received: Received[] = []
  const taken: { message: SnsMessage; path: string }[] = []
  let behaviour: Behaviour | undefined
  const take = async (request: Received, response: ServerResponse) => {
    if (request.method !== 'POST') return void response.writeHead(200).end()
    const message = JSON.parse(request.body) as SnsMessage
    await verifyMessage(message, certificateHost)
    taken.push({ message, path: request.path })
    response.writeHead(200).end()
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const body = Buffer.concat(chunks).toString('utf8')
      const now: Received = { method, path, headers, body, atMs: performance.now() }
      received.push(now)
      const byItself = () =>
        void take(now, response).catch((error: Error) => void response.writeHead(400).end(error.message))
      if (behaviour) behaviour(now, response, byItself)
      else byItself()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  if (unref) server.unref()
  const { port } = server.address() as AddressInfo
  const messages = (type?: SnsMessage['Type']) =>
    taken.map(({ message }) => message).filter((message) => type === undefined || message.Type === type)
  return {
    url: `http://127.0.0.1:${port}/notifications`,
    received,
    messages,
    notices: (notificationType) =>
      messages('Notification')
        .map(({ MessageId, Message }) => ({ messageId: MessageId, ...JSON.parse(Message) }) as Notice)
        .filter((notice) => notificationType === undefined || notice.notificationType === notificationType),
    behave: (next) => {
      behaviour = next
    },
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
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}

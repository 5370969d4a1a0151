import { openReceiver, type Receiver } from '#testing/servers/receiver'

export type WebhookEndpoint = {
  receiver: Receiver
  /** When the webhook of a log of this transaction arrived first, on the clock of `performance`. */
  arrival(txHash: string): Promise<number>
}

const patienceMs = 60_000

/** Opens an endpoint for webhooks of event logs. */
export async function openWebhookEndpoint(): Promise<WebhookEndpoint> {
  const arrived = new Map<string, number>()
  const waiting = new Map<string, (atMs: number) => void>()
  const receiver = await openReceiver(async ({ body, atMs }) => {
    const { txHash } = JSON.parse(body).notification
    if (txHash === undefined || arrived.has(txHash)) return
    arrived.set(txHash, atMs)
    waiting.get(txHash)?.(atMs)
  })
  const arrival = (txHash: string) => {
    const atMs = arrived.get(txHash)
    if (atMs !== undefined) return Promise.resolve(atMs)
    return new Promise<number>((resolve, reject) => {
      const late = () => reject(new Error(`${txHash} is not reported after ${patienceMs / 1_000} s`))
      const timer = setTimeout(late, patienceMs)
      waiting.set(txHash, (at) => {
        clearTimeout(timer)
        resolve(at)
      })
    })
  }
  return { receiver, arrival }
}

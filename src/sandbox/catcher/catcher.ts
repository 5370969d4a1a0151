import type { Db } from '#runtime/db/db'
import type { Arrived } from '#runtime/http/endpoint'
import type { Log } from '#runtime/log/log'
import { type Arrivals, openArrivals } from '../arrivals.ts'
import { asksToConfirm, type Confirmations } from './confirm-subscription.ts'
import { type CaughtMessage, createInboxes, type Inboxes, type SignatureVerdict } from './inboxes.ts'
import { verifySignature } from './verify-signature.ts'

export const catcherPath = '/sandbox/catcher'

export type Catcher = {
  inboxes: Inboxes
  /** Requests that wait for a message. */
  arrivals: Arrivals<CaughtMessage>
  /** Answers that are delayed. */
  delays: Arrivals<never>
  urlOf(inbox: string): string
  receive(inbox: string, arrived: Arrived, nowMs: number): CaughtMessage
  signatureOf(db: Db, message: CaughtMessage): Promise<SignatureVerdict>
  confirmations: Confirmations
  /** Whether an address of this server is an inbox, to which notifications may be sent. */
  catches(url: URL): boolean
}

type CatcherInput = {
  log: Log
  /** The address at which this server listens, once it does. */
  localUrl: () => string
  confirmations: Confirmations
  ending: AbortSignal
}

export function openCatcher({ log, localUrl, confirmations, ending }: CatcherInput): Catcher {
  const inboxes = createInboxes()
  const arrivals = openArrivals<CaughtMessage>(ending)
  const { isOwn } = confirmations
  const confirm = async (message: CaughtMessage) => {
    message.confirmation = await confirmations.confirm(message.path, message)
  }
  const urlOf = (inbox: string) => `${localUrl()}${catcherPath}/${inbox}`
  const receive = (name: string, arrived: Arrived, nowMs: number) => {
    const message = inboxes.keep(name, arrived, nowMs)
    arrivals.arrived(message)
    if (asksToConfirm(message))
      void confirm(message).catch((error) => log.error({ err: error, inbox: name }, 'confirming failed'))
    return message
  }
  return {
    inboxes,
    arrivals,
    delays: openArrivals<never>(ending),
    urlOf,
    receive,
    signatureOf: (db, message) => {
      message.signature ??= verifySignature(db, message, isOwn).catch((error) => {
        delete message.signature
        throw error
      })
      return message.signature
    },
    confirmations,
    catches: (url) => isOwn(url.href) && /^\/sandbox\/catcher\/[a-z0-9-]{1,64}$/.test(url.pathname),
  }
}

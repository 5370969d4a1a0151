import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import type { Arrived } from '#runtime/http/endpoint'
import type { Log } from '#runtime/log/log'
import { type Arrivals, openArrivals } from '../arrivals.ts'
import { asksToConfirm, confirmSubscriptionOf } from './confirm-subscription.ts'
import {
  type CaughtMessage,
  createInboxes,
  type Inbox,
  type Inboxes,
  type SignatureVerdict,
} from './inboxes.ts'
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
  /** Resolves to whether the inbox has confirmed these regions, at the latest after `waitMs`. */
  untilConfirmed(inbox: string, arns: readonly string[], waitMs: number): Promise<boolean>
  /** Ends the requests that wait for that. */
  endConfirmations(): void
  /** Whether an address of this server is an inbox, to which notifications may be sent. */
  catches(url: URL): boolean
}

const confirmedMax = 20

type CatcherInput = {
  config: Config
  log: Log
  /** The address at which this server listens, once it does. */
  localUrl: () => string
  ending: AbortSignal
}

export function openCatcher({ config, log, localUrl, ending }: CatcherInput): Catcher {
  const inboxes = createInboxes()
  const arrivals = openArrivals<CaughtMessage>(ending)
  const confirmations = openArrivals<Inbox>(ending)
  const origins = () => [localUrl(), config.publicUrl].flatMap((url) => (url ? [new URL(url).origin] : []))
  const isOwn = (address: string) => URL.canParse(address) && origins().includes(new URL(address).origin)

  const confirm = async (message: CaughtMessage) => {
    const { confirmation, arn } = await confirmSubscriptionOf(
      { config, localUrl: localUrl(), isOwn },
      message,
    ).catch((error: Error) => ({
      confirmation: { state: 'failed' as const, reason: `SubscribeURL did not answer: ${error.message}` },
      arn: undefined,
    }))
    message.confirmation = confirmation
    const inbox = inboxes.find(message.inbox)
    if (!inbox || arn === undefined) return
    inbox.confirmed = [...inbox.confirmed, arn].slice(-confirmedMax)
    confirmations.arrived(inbox)
  }
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
    urlOf: (inbox) => `${localUrl()}${catcherPath}/${inbox}`,
    receive,
    signatureOf: (db, message) => {
      message.signature ??= verifySignature(db, message, isOwn).catch((error) => {
        delete message.signature
        throw error
      })
      return message.signature
    },
    untilConfirmed: async (name, arns, waitMs) => {
      const hasAll = ({ confirmed }: Inbox) => arns.every((arn) => confirmed.includes(arn))
      const inbox = inboxes.find(name)
      if (!inbox || hasAll(inbox)) return inbox !== undefined
      await confirmations.until((each) => each === inbox && hasAll(each), waitMs)
      return hasAll(inbox)
    },
    endConfirmations: confirmations.endAll,
    catches: (url) => isOwn(url.href) && /^\/sandbox\/catcher\/[a-z0-9-]{1,64}$/.test(url.pathname),
  }
}

import type { Config } from '#runtime/config'
import { callerOf } from '#runtime/outbound/call'
import { openArrivals } from '../arrivals.ts'
import type { CaughtMessage, Confirmation } from './inboxes.ts'

const timeoutMs = 10_000
const linkPath = '/v1/notifications/confirm'

type ConfirmedMessage = Pick<CaughtMessage, 'own'>

/** Whether a message asks its receiver to confirm a subscription. */
export const asksToConfirm = ({ own }: ConfirmedMessage): boolean =>
  own?.envelope?.['Type'] === 'SubscriptionConfirmation'

/** The endpoints of this sandbox itself, which confirm what they are asked to. */
export type Confirmations = {
  /** Whether an address is one of this server. */
  isOwn(address: string): boolean
  /** Confirms what a message to the endpoint of this path asks for. */
  confirm(path: string, message: ConfirmedMessage): Promise<Confirmation>
  /** Resolves to whether the endpoint has confirmed these regions, at the latest after `waitMs`. */
  until(path: string, arns: readonly string[], waitMs: number): Promise<boolean>
  /** Ends the requests that wait for that. */
  endAll(): void
}

const confirmedMax = 1_000

type ConfirmationsInput = { config: Config; localUrl: () => string; ending: AbortSignal }

export function openConfirmations({ config, localUrl, ending }: ConfirmationsInput): Confirmations {
  const arrivals = openArrivals<string>(ending)
  const confirmed = new Set<string>()
  const keyOf = (path: string, arn: string) => `${path} ${arn}`
  const origins = () => [localUrl(), config.publicUrl].flatMap((url) => (url ? [new URL(url).origin] : []))
  const isOwn = (address: string) => URL.canParse(address) && origins().includes(new URL(address).origin)
  return {
    isOwn,
    confirm: async (path, message) => {
      const { confirmation, arn } = await confirmSubscriptionOf(
        { config, localUrl: localUrl(), isOwn },
        message,
      ).catch((error: Error) => ({
        confirmation: { state: 'failed' as const, reason: `SubscribeURL did not answer: ${error.message}` },
        arn: undefined,
      }))
      if (arn === undefined) return confirmation
      confirmed.add(keyOf(path, arn))
      const [oldest] = confirmed
      if (confirmed.size > confirmedMax) confirmed.delete(oldest!)
      arrivals.arrived(path)
      return confirmation
    },
    endAll: arrivals.endAll,
    until: async (path, arns, waitMs) => {
      const hasAll = () => arns.every((arn) => confirmed.has(keyOf(path, arn)))
      if (!hasAll()) await arrivals.until((each) => each === path && hasAll(), waitMs)
      return hasAll()
    },
  }
}

/**
 * Opens the SubscribeURL of a message, at the local address of this sandbox. An address of any other server is not opened:
 * the message may come from any program. Returns the region that was confirmed, as the link names it.
 */
async function confirmSubscriptionOf(
  { config, localUrl, isOwn }: { config: Config; localUrl: string; isOwn: (address: string) => boolean },
  { own }: ConfirmedMessage,
): Promise<{ confirmation: Confirmation; arn?: string }> {
  const address = own?.envelope?.['SubscribeURL'] ?? ''
  if (!isOwn(address) || new URL(address).pathname !== linkPath)
    return {
      confirmation: {
        state: 'refused',
        reason:
          'SubscribeURL is not the link of this sandbox that confirms a subscription, and was not opened.',
      },
    }
  const { status, text } = await callerOf(config)({
    method: 'GET',
    url: localUrl + linkPath + new URL(address).search,
    timeoutMs,
    keptBytes: 4_096,
  })
  if (status !== 200)
    return { confirmation: { state: 'failed', reason: `SubscribeURL answered ${status}: ${text}` } }
  const { data } = JSON.parse(text) as { data: { subscriptionArn: string } }
  return {
    confirmation: { state: 'confirmed', reason: `${data.subscriptionArn} is confirmed.` },
    arn: data.subscriptionArn,
  }
}

import type { Config } from '#runtime/config'
import { callerOf } from '#runtime/outbound/call'
import type { CaughtMessage, Confirmation } from './inboxes.ts'

const timeoutMs = 10_000
const linkPath = '/v1/notifications/confirm'

/** Whether a message asks its receiver to confirm a subscription. */
export const asksToConfirm = ({ own }: CaughtMessage): boolean =>
  own?.envelope?.['Type'] === 'SubscriptionConfirmation'

/**
 * Opens the SubscribeURL of a message, at the local address of this sandbox. An address of any other server is not opened:
 * the message may come from any program. Returns the region that was confirmed, as the link names it.
 */
export async function confirmSubscriptionOf(
  { config, localUrl, isOwn }: { config: Config; localUrl: string; isOwn: (address: string) => boolean },
  { own }: CaughtMessage,
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

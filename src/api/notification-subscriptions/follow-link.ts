import type { Ctx } from '#engines/ctx'
import { confirmRegion, subscriptionArn, unsubscribe } from '#engines/webhooks/index'

/** Confirms a region: the target of its SubscribeURL. */
export const confirmSubscription = async (ctx: Ctx, token: string) =>
  showLink(await confirmRegion(ctx, token))

/** Ends a region: the target of the UnsubscribeURL of a notification. */
export const endSubscription = async (ctx: Ctx, token: string) => showLink(await unsubscribe(ctx, token))

const showLink = ({ environment, region, id, status }: Awaited<ReturnType<typeof confirmRegion>>) => ({
  subscriptionArn: subscriptionArn(environment, region, id),
  status,
})

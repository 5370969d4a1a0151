import type { Ctx } from '#engines/ctx'
import { confirm, subscriptionArn, unsubscribe } from '#engines/webhooks/index'

/** What the SubscribeURL of a region does. */
export const confirmSubscription = async (ctx: Ctx, token: string) => showLink(await confirm(ctx, token))

/** What the UnsubscribeURL of a notification does. */
export const endSubscription = async (ctx: Ctx, token: string) => showLink(await unsubscribe(ctx, token))

const showLink = ({ environment, region, id, status }: Awaited<ReturnType<typeof confirm>>) => ({
  subscriptionArn: subscriptionArn(environment, region, id),
  status,
})

import { tokenOf } from '#engines/webhooks/index'
import { sql } from '#runtime/db/db'
import type { World } from './builders.ts'
import { openWebhookSink, type WebhookSink } from './webhook-sink.ts'

let sink: Promise<WebhookSink> | undefined

/** URL of a sink that listens as long as this process lives; each `name` is a separate endpoint. */
export async function webhookEndpoint(name: string): Promise<string> {
  sink ??= openWebhookSink({ unref: true })
  return `${(await sink).url}/${name}`
}

/** A subscription whose regions are confirmed, whether engines run or not. */
export async function makeSubscription(world: World, name: string): Promise<{ id: string }> {
  const endpoint = await webhookEndpoint(name)
  const { id } = (await world.call('POST', '/v1/notifications/subscriptions', { endpoint })) as { id: string }
  await world.harness.database.run(
    sql`update notification_subscription_details set status = 'confirmed' where subscription_id = ${id}`,
  )
  return { id }
}

/** The token of a link that a receiver gets. */
export async function makeLinkToken(world: World, purpose: 'confirm' | 'unsubscribe'): Promise<string> {
  const { id } = await makeSubscription(world, 'links')
  const { detailId } = await world.harness.database.one<{ detailId: string }>(sql`select id as "detailId"
    from notification_subscription_details where subscription_id = ${id}
      and region = ${purpose === 'confirm' ? 'us-east-1' : 'us-west-2'}`)
  return tokenOf(world.harness.ctx.custody.notary, purpose, detailId)
}

/** File name of the current signing certificate. */
export const certificateName = async (world: World): Promise<string> =>
  `${await world.harness.ctx.custody.notary.certificateId()}.pem`

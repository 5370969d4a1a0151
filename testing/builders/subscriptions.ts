import { randomUUID } from 'node:crypto'
import { tokenOf } from '#engines/webhooks/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { sql } from '#runtime/db/db'
import { openReceiver, type Receiver } from '#testing/servers/receiver'
import { domainOf } from './burns.ts'
import type { World } from './world.ts'

let receiver: Promise<Receiver> | undefined

/** URL of a receiver that listens as long as this process lives; each `name` is a separate endpoint. */
export async function webhookEndpoint(name: string): Promise<string> {
  receiver ??= openReceiver(async () => undefined, { unref: true })
  return `${(await receiver).url}/${name}`
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

const webhookPath = '/v2/notifications/subscriptions'

/** A v2 subscription to all types. Deletes the earlier ones of the entity before they reach the limit. */
export async function makeWebhookSubscription(world: World, name: string): Promise<{ id: string }> {
  const earlier: { id: string }[] = await world.call('GET', webhookPath)
  if (earlier.length > 15) for (const { id } of earlier) await world.call('DELETE', `${webhookPath}/${id}`)
  return world.call('POST', webhookPath, { endpoint: await webhookEndpoint(name) })
}

/** A subscription to unified balances; deletes the earlier ones of the entity before they reach the limit. */
export async function makePermissionlessSubscription(world: World, name: string): Promise<{ id: string }> {
  const path = `${webhookPath}/permissionless`
  const earlier: { id: string }[] = await world.call('GET', path)
  if (earlier.length > 2) for (const { id } of earlier) await world.call('DELETE', `${path}/${id}`)
  return world.call('POST', path, await permissionlessBody(world, name))
}

/** The body of a request for such a subscription. */
export const permissionlessBody = async ({ harness }: World, name: string) => ({
  environment: 'TEST',
  endpoint: await webhookEndpoint(name),
  addresses: ['0x1234567890abcdef1234567890abcdef12345678'],
  domains: [String(domainOf(harness.chain()))],
})

/** A notification in the log, with a delivery that failed. */
export async function makeNotification(world: World): Promise<{ id: string }> {
  const { id: subscriptionId } = await makeWebhookSubscription(world, 'notified')
  const { clock, database } = world.harness
  const nowMs = clock.nowMs()
  const [id, at] = [newId(nowMs), formatInstant(nowMs)]
  const { entityId } = world.tenant
  const resourceId = randomUUID()
  await database.run(sql`insert into notifications (entity_id, id, line, topic, resource_id, message, create_date)
    values (${entityId}, ${id}, 'v2', 'transactions.inbound', ${resourceId}, '{}', ${at})`)
  await database.run(sql`insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, state,
      due_date, create_date, update_date)
    values (${entityId}, ${subscriptionId}, ${id}, ${resourceId}, 'failed', ${at}, ${at}, ${at})`)
  return { id }
}

/** The token of a link that a receiver gets. */
export async function makeLinkToken(world: World, purpose: 'confirm' | 'unsubscribe'): Promise<string> {
  const { id } = await makeSubscription(world, 'links')
  const { detailId } = await world.harness.database.one<{ detailId: string }>(sql`select id as detail_id
    from notification_subscription_details where subscription_id = ${id}
      and region = ${purpose === 'confirm' ? 'us-east-1' : 'us-west-2'}`)
  return tokenOf(world.harness.ctx.custody.notary, purpose, detailId)
}

/** File name of the current signing certificate. */
export const certificateName = async (world: World): Promise<string> =>
  `${await world.harness.ctx.custody.notary.certificateId()}.pem`

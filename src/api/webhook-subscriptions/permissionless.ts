import type { Static } from 'typebox'
import { parseAddress } from '#chains/address'
import type { Ctx } from '#engines/ctx'
import { unifiedChains, whyNoBalance } from '#engines/unified-balance/index'
import {
  findWebhookSubscription,
  listWebhookSubscriptions,
  subscribeWebhook,
  updateWebhook,
  type WebhookSubscription,
} from '#engines/webhooks/index'
import { invalid, notFound } from '#lib/errors'
import type {
  newPermissionlessSubscriptionSchema,
  permissionlessSubscriptionsQuery,
  permissionlessSubscriptionUpdate,
} from './permissionless-schema.ts'
import { showWebhookSubscription } from './show-webhook-subscription.ts'

type NewPermissionlessSubscription = Static<typeof newPermissionlessSubscriptionSchema>
type Given = Pick<NewPermissionlessSubscription, 'addresses' | 'domains'>

const allTypes = ['gateway.*']

const show = (ctx: Ctx, subscription: WebhookSubscription) => ({
  ...showWebhookSubscription(subscription),
  addresses: subscription.addresses!,
  domains: subscription.domains!.map(String),
  environment: ctx.entity.environment,
  restricted: !subscription.notificationTypes.includes('gateway.*'),
})

export async function createPermissionlessSubscription(ctx: Ctx, body: NewPermissionlessSubscription) {
  const { endpoint, notificationTypes: types = allTypes, name, enabled } = body
  requireEnvironment(ctx, body.environment)
  const watch = readWatch(ctx, body)
  const optional = { ...(name !== undefined && { name }), ...(enabled !== undefined && { enabled }) }
  return show(ctx, await subscribeWebhook(ctx, { endpoint, types, watch, ...optional }))
}

export const getPermissionlessSubscriptions = async (
  ctx: Ctx,
  { environment = ctx.entity.environment }: Static<typeof permissionlessSubscriptionsQuery>,
) =>
  (await listWebhookSubscriptions(ctx.db, ctx.entity.id))
    .filter(({ domains }) => domains !== null && environment === ctx.entity.environment)
    .map((each) => show(ctx, each))

export async function getPermissionlessSubscription(ctx: Ctx, id: string) {
  const found = await findWebhookSubscription(ctx.db, ctx.entity.id, id, 'addresses')
  if (!found) throw notFound('subscription', id, 'subscriptionNotFound')
  return show(ctx, found)
}

export async function updatePermissionlessSubscription(
  ctx: Ctx,
  id: string,
  body: Static<typeof permissionlessSubscriptionUpdate>,
) {
  const { environment, endpoint, name, enabled, notificationTypes, addresses, domains } = body
  if (environment !== undefined) requireEnvironment(ctx, environment)
  const before = await getPermissionlessSubscription(ctx, id)
  if (endpoint !== undefined && endpoint !== before.endpoint)
    throw invalid({
      at: 'endpoint',
      reason: 'cannot be changed: create another subscription, and delete this one',
      value: endpoint,
    })
  const filters = { notificationTypes, addresses, domains }
  const missing = Object.entries(filters).filter(([, value]) => value === undefined)
  if (missing.length > 0 && missing.length < 3)
    throw invalid({
      at: missing[0]![0],
      reason: 'is missing: notificationTypes, addresses and domains are replaced together',
    })
  const changed = await updateWebhook(ctx, id, 'addresses', {
    ...(name !== undefined && { name }),
    ...(enabled !== undefined && { enabled }),
    ...(notificationTypes &&
      addresses &&
      domains && {
        filters: { types: notificationTypes, watch: readWatch(ctx, { addresses, domains }) },
      }),
  })
  return show(ctx, changed)
}

function requireEnvironment({ config, entity }: Ctx, environment: 'TEST' | 'LIVE'): void {
  const refused = (reason: string) => invalid({ at: 'environment', reason, value: environment })
  if (environment !== entity.environment)
    throw refused(`is not that of the key: a ${entity.environment} key watches ${entity.environment} chains`)
  if (environment !== config.crosschainEnvironment)
    throw refused(`has no unified balances here: this server answers for ${config.crosschainEnvironment}`)
}

/** The addresses in canonical form: each has to be one on some of the chains. */
function readWatch(ctx: Ctx, given: Given) {
  const chains = unifiedChains(ctx)
  const domains = given.domains.map(Number)
  const watched = domains.map((domain, index) => {
    const found = chains.find((chain) => chain.domain === domain)
    if (found) return found
    throw invalid({
      at: `domains[${index}]`,
      reason: `${whyNoBalance(ctx.config.crosschainEnvironment, domain)}: this server has ${chains.map((chain) => chain.domain).join(', ')}`,
      value: given.domains[index],
      kind: 'unifiedDomainUnknown',
    })
  })
  const addresses = given.addresses.map((address, index) => {
    for (const { blockchain } of watched) {
      const parsed = parseAddress(blockchain, address)
      if (parsed !== undefined) return parsed
    }
    throw invalid({
      at: `addresses[${index}]`,
      reason: 'is not an address on any of the chains of domains: 0x and 40 hexadecimal digits on EVM chains',
      value: address,
    })
  })
  return { addresses, domains }
}

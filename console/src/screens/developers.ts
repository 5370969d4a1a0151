import { ask } from '../api/ask.ts'
import { duration, id, mono, status, text, time } from '../parts/cell.ts'
import {
  type Action,
  type Column,
  type DetailScreen,
  followsTypes,
  type ListScreen,
  type Row,
} from './screen.ts'

type Delivery = {
  subscriptionId: string
  endpoint: string
  state: string
  attemptCount?: number
  attempts?: Attempt[]
}
type Attempt = {
  number: number
  status?: number
  error?: string
  durationMs?: number
  cause: string
  createDate: string
  fault?: string
}
type Notification = Row & {
  line: string
  topic: string
  resourceId: string
  message: string
  previousId?: string
  createDate: string
  deliveries: Delivery[]
}

const worst = (deliveries: Delivery[]) =>
  ['failed', 'waiting', 'dropped', 'delivered'].find((state) =>
    deliveries.some((each) => each.state === state),
  ) ?? 'no endpoint'

const resend: Action<Notification> = {
  title: 'Resend',
  icon: 'send',
  about:
    'Sends the same bytes with the same message id to every endpoint that receives this type. A receiver that removes duplicates sees nothing new.',
  async run(item) {
    await ask('POST', `/operator/notifications/${item.id}/resend`, {})
    return { told: 'The notification is sent again.' }
  },
}

export const notifications: ListScreen<Notification> = {
  title: 'Notifications',
  path: '/operator/notifications',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Topic', cell: ({ topic }) => text(topic), place: 'title' },
    { title: 'Line', cell: ({ line }) => text(line) },
    { title: 'Resource', cell: ({ resourceId }) => id(resourceId), place: 'below' },
    {
      title: 'Endpoints',
      cell: ({ deliveries }) => text(deliveries.map(({ endpoint }) => endpoint).join(', ')),
    },
    { title: 'State', cell: ({ deliveries }) => status(worst(deliveries)), place: 'state' },
  ],
  hrefOf: (notification) => `/notifications/${notification.id}`,
  follows: () => true,
  filters: [
    { name: 'state', title: 'Delivery', options: ['waiting', 'delivered', 'failed', 'dropped'] },
    { name: 'topic', title: 'Topic', placeholder: 'Topic, such as payments' },
    { name: 'resourceId', title: 'Resource id' },
    { name: 'subscriptionId', title: 'Subscription id' },
  ],
  empty: { text: 'No notifications yet. They begin with the first subscription.', trigger: 'payment.paid' },
}

export const notificationActs: readonly Action<Notification>[] = [resend]

/** An endpoint: the shape of wallets (v2), and what that of the business account (v1) has instead. */
type Subscription = Row & {
  name?: string
  endpoint: string
  enabled?: boolean
  notificationTypes?: string[]
  failingSince?: string
  droppedCount?: number
  createDate?: string
  subscriptionDetails?: { url: string; status: string }[]
}

const replay: Action<Subscription> = {
  title: 'Replay',
  icon: 'rotate-ccw-clock',
  about: 'Sends notifications of a time again, in their order for each resource, with their message ids.',
  fields: [
    {
      name: 'state',
      title: 'Which',
      options: [
        { value: 'failed', title: 'Failed or dropped' },
        { value: 'missing', title: 'Never queued for it' },
        { value: 'all', title: 'All, delivered ones too' },
      ],
    },
    {
      name: 'from',
      title: 'From',
      hint: 'An instant',
      value: new Date(Date.now() - 86_400_000).toISOString(),
    },
    { name: 'to', title: 'To', isOptional: true },
  ],
  async run(item, values) {
    const { data } = await ask<{ total: number }>(
      'POST',
      `/operator/subscriptions/${item.id}/replays`,
      values,
    )
    return { told: `${data.total} notifications are sent again.` }
  },
}

function stateOfEndpoint({ enabled, failingSince, subscriptionDetails }: Subscription) {
  if (subscriptionDetails) return subscriptionDetails[0]?.status
  return enabled === false ? 'disabled' : failingSince ? 'refusing' : 'active'
}

const toneOfEndpoint = (state: string | undefined) =>
  state === 'confirmed' ? 'good' : state === 'refusing' ? 'bad' : undefined

const typesOf = ({ notificationTypes }: Subscription) =>
  text(notificationTypes?.includes('*') ? 'all' : notificationTypes?.join(', '))

const endpointColumn: Column<Subscription> = {
  title: 'Endpoint',
  cell: ({ endpoint }) => mono(endpoint),
  place: 'title',
}
const endpointStateColumns: readonly Column<Subscription>[] = [
  { title: 'Dropped', isNumber: true, cell: ({ droppedCount }) => text(droppedCount || undefined) },
  {
    title: 'State',
    place: 'state',
    cell: (subscription) => {
      const state = stateOfEndpoint(subscription)
      return status(state, toneOfEndpoint(state))
    },
  },
]

/** A line of notifications, which has subscriptions of its own. */
type Line = {
  title: string
  folder: string
  path: string
  /** A sentence on how an endpoint of the line is checked. */
  check: string
  columns: readonly Column<Subscription>[]
  pathOf: (id: string) => string
}

const endpointsOf = ({ title, folder, path, check, columns }: Line): ListScreen<Subscription> => ({
  title,
  path,
  columns,
  hrefOf: (subscription) => `${folder}/${subscription.id}`,
  actions: [
    {
      title: 'Subscribe',
      icon: 'plus',
      tone: 'primary',
      about: check,
      fields: [{ name: 'endpoint', title: 'Endpoint', hint: 'An https address' }],
      async run(_, values) {
        await ask('POST', path, values)
        return { told: 'The endpoint is subscribed.' }
      },
    },
  ],
  empty: {
    text: 'No subscriptions yet.',
    command: 'bezant listen --forward-to http://localhost:3000/webhooks',
  },
})

const endpointOf = ({ title, folder, path, pathOf }: Line): DetailScreen<Subscription> => ({
  list: { title, href: folder },
  pathOf,
  titleOf: ({ endpoint }) => endpoint ?? 'Subscription',
  stateOf: (item) => item.endpoint && stateOfEndpoint(item),
  facts: [
    { title: 'Name', cell: ({ name }) => text(name) },
    { title: 'Types', cell: typesOf },
    { title: 'Failing since', cell: ({ failingSince }) => time(failingSince) },
    { title: 'Dropped', cell: ({ droppedCount }) => text(droppedCount) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actions: [
    replay,
    {
      title: 'Remove',
      icon: 'trash',
      tone: 'danger',
      about: 'Removes the subscription. What waits for it is dropped.',
      typed: () => 'remove',
      async run(item) {
        await ask('DELETE', `${path}/${item.id}`)
        return { goTo: folder, told: 'The subscription is removed.' }
      },
    },
  ],
  follows: () => () => true,
  parts: [
    {
      title: 'Deliveries',
      pathOf: (item) => `/operator/notifications?subscriptionId=${item.id}&pageSize=20`,
      columns: notifications.columns as ListScreen['columns'],
      hrefOf: (row) => `/notifications/${row.id}`,
      empty: 'Nothing was queued for it yet.',
    },
  ],
})

const ofWallets: Line = {
  title: 'Webhooks',
  folder: '/webhooks',
  path: '/v2/notifications/subscriptions',
  check: 'The endpoint is checked at once: it has to answer a signed test message.',
  columns: [
    endpointColumn,
    { title: 'Name', cell: ({ name }) => text(name), place: 'below' },
    { title: 'Types', cell: typesOf },
    ...endpointStateColumns,
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  ],
  pathOf: (subscriptionId) => `/v2/notifications/subscriptions/${subscriptionId}`,
}

const ofBusinessAccount: Line = {
  title: 'Webhooks of the business account',
  folder: '/business-webhooks',
  path: '/v1/notifications/subscriptions',
  check: 'The endpoint confirms the subscription by the address in its first message.',
  columns: [
    endpointColumn,
    { title: 'Id', cell: (subscription) => id(subscription.id), place: 'below' },
    ...endpointStateColumns,
  ],
  pathOf: () => '/v1/notifications/subscriptions',
}

export const webhooks = endpointsOf(ofWallets)
export const webhook = endpointOf(ofWallets)
export const businessWebhooks = endpointsOf(ofBusinessAccount)
export const businessWebhook = endpointOf(ofBusinessAccount)

type Logged = Row & {
  method: string
  path: string
  route: string
  status: number
  code?: number
  durationMs: number
  replayed: boolean
  apiKeyId?: string
  resourceId?: string
  createDate: string
}

const toneOfStatus = (code: number) => (code >= 500 ? 'bad' : code >= 400 ? 'warn' : 'good')

export const requests: ListScreen<Logged> = {
  title: 'Request log',
  path: '/operator/requests',
  columns: [
    { title: 'Time', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Request', cell: ({ method, path }) => mono(`${method} ${path}`), place: 'title' },
    { title: 'Status', cell: ({ status: code }) => status(String(code), toneOfStatus(code)), place: 'state' },
    { title: 'Code', isNumber: true, cell: ({ code }) => text(code) },
    { title: 'Resource', cell: ({ resourceId }) => id(resourceId) },
    { title: 'Replayed', cell: ({ replayed }) => text(replayed ? 'replayed' : undefined) },
    { title: 'Took', isNumber: true, cell: ({ durationMs }) => duration(durationMs), place: 'amount' },
  ],
  hrefOf: (request) => `/requests/${request.id}`,
  follows: () => true,
  filters: [
    { name: 'method', title: 'Method', options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
    { name: 'status', title: 'Status', options: ['2xx', '4xx', '5xx'] },
    { name: 'route', title: 'Route', placeholder: 'Route, such as /v1/payouts' },
    { name: 'idempotencyKey', title: 'Idempotency key' },
    { name: 'resourceId', title: 'Resource id' },
  ],
  empty: { text: 'No requests are logged. BEZANT_REQUEST_LOG says what is kept: off, rows or bodies.' },
}

export const events: ListScreen<Row> = {
  title: 'Events',
  path: '/operator/events',
  columns: [
    { title: 'Recorded', cell: (row) => time(row['recordedDate'] as string), place: 'below' },
    { title: 'Event', cell: (row) => text(row['type'] as string), place: 'title' },
    { title: 'Resource', cell: (row) => id(row['resourceId'] as string), place: 'below' },
    { title: 'By', cell: (row) => mono(row['actor'] as string) },
    {
      title: 'Request',
      place: 'state',
      cell: (row) => id(row['requestId'] as string | undefined, `/requests/${row['requestId']}`),
    },
  ],
  follows: () => true,
  filters: [
    { name: 'type', title: 'Type', placeholder: 'Type, such as transaction.*' },
    { name: 'resourceId', title: 'Resource id' },
  ],
  empty: { text: 'Nothing has happened yet.' },
}

type Key = Row & {
  scopes: string[]
  isOwn: boolean
  createDate: string
  expireDate?: string
  allowedAddresses?: string[]
  usedDate?: string
  usedAddress?: string
  revokedDate?: string
}

const stateOfKey = ({ revokedDate, expireDate }: Key) => {
  if (revokedDate) return 'revoked'
  return expireDate && Date.parse(expireDate) <= Date.now() ? 'expired' : 'active'
}

export const keys: ListScreen<Key> = {
  title: 'API keys',
  path: '/operator/apiKeys',
  columns: [
    { title: 'Key', cell: (key) => id(key.id), place: 'title' },
    { title: 'Scopes', cell: ({ scopes }) => text(scopes.join(', ')), place: 'below' },
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Last used', cell: ({ usedDate }) => time(usedDate) },
    { title: 'Expires', cell: ({ expireDate }) => time(expireDate) },
    {
      title: 'State',
      place: 'state',
      cell: (key) => {
        const state = stateOfKey(key)
        return status(key.isOwn ? 'in use here' : state, state === 'active' ? 'good' : 'idle')
      },
    },
  ],
  hrefOf: (key) => `/keys/${key.id}`,
  actions: [
    {
      title: 'Create a key',
      icon: 'plus',
      tone: 'primary',
      fields: [
        {
          name: 'scopes',
          title: 'Scopes',
          options: [
            { value: 'api', title: 'api: the interface of customers' },
            { value: 'operator:read', title: 'operator:read: reads for operators' },
            { value: 'api,operator:read', title: 'api and operator:read' },
            { value: 'api,operator:read,operator:write', title: 'all' },
            { value: 'client', title: 'client: the JSON-RPC endpoint of pages' },
          ],
        },
        { name: 'expireDate', title: 'Expires', hint: 'An instant', isOptional: true },
        {
          name: 'allowedAddresses',
          title: 'Addresses',
          hint: 'IP addresses and networks, such as 10.0.0.7, 10.1.0.0/16',
          isOptional: true,
        },
      ],
      async run(_, { scopes = '', expireDate, allowedAddresses }) {
        const { data } = await ask<{ key: string }>('POST', '/operator/apiKeys', {
          scopes: scopes.split(','),
          ...(expireDate && { expireDate }),
          ...(allowedAddresses && { allowedAddresses: allowedAddresses.split(/[\s,]+/).filter(Boolean) }),
        })
        return { secret: { title: 'The new key.', text: data.key } }
      },
    },
  ],
  follows: followsTypes('apiKey'),
  empty: { text: 'No keys.' },
}

const revokeKey: Action<{ id: string }> = {
  title: 'Revoke',
  icon: 'x',
  tone: 'danger',
  about: 'Refuses every further request of this key. A revoked key never works again.',
  typed: () => 'revoke',
  async run(item) {
    await ask('DELETE', `/operator/apiKeys/${item.id}`)
    return { told: 'The key is revoked.' }
  },
}

export const key: DetailScreen<Key> = {
  list: { title: 'API keys', href: '/keys' },
  pathOf: (keyId) => `/operator/apiKeys/${keyId}`,
  titleOf: ({ scopes }) => (scopes ? `Key for ${scopes.join(', ')}` : 'API key'),
  stateOf: stateOfKey,
  facts: [
    { title: 'Scopes', cell: ({ scopes }) => text(scopes?.join(', ')) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
    { title: 'Expires', cell: ({ expireDate }) => time(expireDate) },
    {
      title: 'May be used from',
      cell: ({ allowedAddresses }) => text(allowedAddresses?.join(', ') ?? 'everywhere'),
    },
    { title: 'Last used', cell: ({ usedDate }) => time(usedDate) },
    { title: 'Last used from', cell: ({ usedAddress }) => mono(usedAddress) },
    { title: 'Revoked', cell: ({ revokedDate }) => time(revokedDate) },
  ],
  actions: [{ ...revokeKey, isOffered: (item) => !(item as Key).revokedDate }],
  parts: [
    {
      title: 'Requests',
      pathOf: (item) => `/operator/requests?apiKeyId=${item.id}&pageSize=20`,
      columns: requests.columns as ListScreen['columns'],
      hrefOf: (row) => `/requests/${row.id}`,
      empty: 'No requests of this key are logged.',
    },
  ],
}

import Type from 'typebox'
import { gatewayNotificationTypes } from '#engines/webhooks/index'
import { newWebhookSubscriptionSchema, webhookSubscriptionSchema } from './schema.ts'

const environmentField = Type.Enum(['TEST', 'LIVE'], {
  description: 'The environment of its chains: that of the key, and the one that this server answers for.',
})

const nameField = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Your name for the subscription; at first the host of the endpoint.',
})

const enabledField = Type.Boolean({
  description:
    'Whether it receives notifications. Disabling drops those that wait, and none are queued meanwhile.',
})

const typeField = Type.Enum([...gatewayNotificationTypes], {
  title: 'GatewayNotificationType',
  description: 'A type of notification of unified balances; `gateway.*` stands for all of them.',
})

const typesField = Type.Array(typeField, {
  minItems: 1,
  maxItems: 10,
  description: 'The types to receive. Default, and with `gateway.*` among them: all.',
})

const addressesField = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
  minItems: 1,
  maxItems: 50,
  description: 'The addresses to watch: depositors, and receivers of transfers.',
})

const domainsField = Type.Array(
  Type.Union([
    Type.String({ pattern: '^(0|[1-9][0-9]{0,9})$', description: 'The domain as text.' }),
    Type.Integer({ minimum: 0, maximum: 4_294_967_295, description: 'The domain as a number.' }),
  ]),
  {
    minItems: 1,
    maxItems: 50,
    description: 'The domains of the chains to watch them on, as `GET /v1/info` lists them.',
  },
)

export const newPermissionlessSubscriptionSchema = Type.Object(
  {
    environment: environmentField,
    endpoint: newWebhookSubscriptionSchema.properties.endpoint,
    addresses: addressesField,
    domains: domainsField,
    name: Type.Optional(nameField),
    enabled: Type.Optional(enabledField),
    notificationTypes: Type.Optional(typesField),
  },
  {
    title: 'CreatePermissionlessSubscriptionRequest',
    description: 'The endpoint to subscribe, and the addresses to watch.',
    examples: [
      {
        environment: 'TEST',
        endpoint: 'https://merchant.example/gateway-webhooks',
        addresses: ['0x1234567890abcdef1234567890abcdef12345678'],
        domains: ['6'],
        notificationTypes: ['gateway.*'],
      },
    ],
  },
)

export const permissionlessSubscriptionUpdate = Type.Object(
  {
    environment: Type.Optional(environmentField),
    endpoint: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description: 'The endpoint as it is: another one needs a new subscription.',
      }),
    ),
    name: Type.Optional(nameField),
    enabled: Type.Optional(enabledField),
    notificationTypes: Type.Optional(typesField),
    addresses: Type.Optional(addressesField),
    domains: Type.Optional(domainsField),
  },
  {
    title: 'UpdatePermissionlessSubscriptionRequest',
    description:
      'The parts to change. notificationTypes, addresses and domains replace the present ones together.',
    examples: [{ name: 'Shop', enabled: true }],
  },
)

const { id, name, endpoint, enabled, createDate, updateDate, restricted, ...failures } =
  webhookSubscriptionSchema.properties

export const permissionlessSubscriptionSchema = Type.Object(
  {
    id,
    name,
    endpoint,
    enabled,
    createDate,
    updateDate,
    restricted,
    ...failures,
    notificationTypes: Type.Array(typeField, { description: 'The types that it receives.' }),
    addresses: Type.Array(Type.String(), {
      description: 'The addresses that it watches, in canonical form.',
    }),
    domains: Type.Array(Type.String(), { description: 'The domains of the chains that it watches them on.' }),
    environment: environmentField,
  },
  {
    title: 'PermissionlessSubscription',
    description: 'A subscription of an endpoint to the unified balances of addresses.',
  },
)

export const permissionlessSubscriptionsQuery = Type.Object({
  environment: Type.Optional(
    Type.Enum(['TEST', 'LIVE'], { description: 'The environment of the subscriptions to list.' }),
  ),
})

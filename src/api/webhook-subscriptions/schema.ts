import Type from 'typebox'
import { createDateField, dateField, droppedFields, idField, updateDateField } from '#api/fields'
import { notificationTypes } from '#engines/webhooks/index'
import { idParams } from '#runtime/http/openapi/annotate'

const typeField = Type.Enum([...notificationTypes], {
  title: 'NotificationType',
  description:
    'A type of notification; `*` stands for every type, and `transactions.*` for all of transactions.',
})

export const newWebhookSubscriptionSchema = Type.Object(
  {
    endpoint: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description:
        'A public https address that answers HEAD and POST with 2xx within 5 seconds. A sandbox also takes http and https addresses of its own machine.',
    }),
    notificationTypes: Type.Optional(
      Type.Array(typeField, {
        minItems: 1,
        maxItems: 100,
        description: 'The types to receive. Default, and with `*` among them: every type.',
      }),
    ),
  },
  {
    title: 'CreateWebhookSubscriptionRequest',
    description: 'The endpoint to subscribe.',
    examples: [
      { endpoint: 'https://merchant.example/webhooks', notificationTypes: ['transactions.inbound'] },
    ],
  },
)

export const webhookSubscriptionUpdate = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 256, description: 'Your name for the subscription.' }),
    enabled: Type.Boolean({
      description:
        'Whether it receives notifications. Disabling drops those that wait, and none are queued meanwhile.',
    }),
  },
  {
    title: 'UpdateWebhookSubscriptionRequest',
    description: 'The name and whether to deliver.',
    examples: [{ name: 'Shop', enabled: true }],
  },
)

export const webhookSubscriptionSchema = Type.Object(
  {
    id: idField('The id of the subscription.'),
    name: Type.String({ description: 'The name; at first the host of the endpoint.' }),
    endpoint: Type.String({ description: 'The address that notifications are posted to.' }),
    enabled: Type.Boolean({ description: 'Whether it receives notifications.' }),
    createDate: createDateField,
    updateDate: updateDateField,
    notificationTypes: Type.Array(typeField, { description: 'The types that it receives.' }),
    restricted: Type.Boolean({ description: 'Whether it receives some types only.' }),
    failingSince: Type.Optional(
      dateField('The first failed attempt since the last success; present while the endpoint fails.'),
    ),
    disableDate: Type.Optional(
      dateField('The time from which the next failed attempt disables it; present while the endpoint fails.'),
    ),
    ...droppedFields,
  },
  { title: 'WebhookSubscription', description: 'A subscription of an endpoint to notifications of wallets.' },
)

export const webhookSubscriptionParams = idParams('WebhookSubscriptionId', 'the subscription')

export const publicKeyParams = idParams('WebhookKeyId', 'the key, as in X-Circle-Key-Id')

export const publicKeySchema = Type.Object(
  {
    id: idField('The id of the key.'),
    algorithm: Type.Enum(['ECDSA_SHA_256'], { description: 'The algorithm of X-Circle-Signature.' }),
    publicKey: Type.String({
      description: 'The P-256 key that checks X-Circle-Signature: SubjectPublicKeyInfo in DER as base64.',
    }),
    createDate: createDateField,
    standardWebhooksKey: Type.String({
      description:
        'The Ed25519 key that checks webhook-signature: `whpk_` and 32 bytes as base64, as libraries of the Standard Webhooks specification take it.',
    }),
  },
  { title: 'WebhookKey', description: 'Public keys of webhooks, which never change under their id.' },
)

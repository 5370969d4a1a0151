import Type from 'typebox'
import { createDateField, dateField, idField } from '#api/fields'
import { described, idParams } from '#runtime/http/openapi/annotate'

const optional = Type.Optional
const deliveryStateField = Type.Enum(['waiting', 'delivered', 'failed', 'dropped'], {
  title: 'DeliveryState',
  description:
    'waiting for its next attempt; failed after three days; dropped when its subscription was deleted or disabled.',
})
const causeField = Type.Enum(['auto', 'resend', 'replay'], {
  title: 'DeliveryCause',
  description: 'Why it was queued: by its event, or by an operator, alone or in a range.',
})

export const notificationFilters = Type.Object({
  topic: optional(
    Type.String({ maxLength: 100, description: 'The type, such as payments or transactions.inbound.' }),
  ),
  resourceId: optional(idField('The resource.')),
  subscriptionId: optional(idField('A subscription that it was queued for.')),
  state: optional(
    described(deliveryStateField, 'The state of a delivery, of that subscription if one is named.'),
  ),
})

export const notificationParams = idParams('NotificationId', 'the notification')
export const replayedParams = idParams('ReplayedSubscriptionId', 'the subscription, of either line')
export const replayParams = Type.Object({
  ...replayedParams.properties,
  replayId: idField('The id of the replay.'),
})

const headersField = (description: string) => Type.Record(Type.String(), Type.String(), { description })

const deliveryFields = {
  subscriptionId: idField('The subscription.'),
  endpoint: Type.String({ description: 'The address of the subscription.' }),
  state: deliveryStateField,
  cause: causeField,
  attemptCount: Type.Integer({ description: 'The number of attempts.' }),
  dueDate: optional(dateField('The time of the next attempt, of a waiting delivery.')),
}

const attemptSchema = Type.Object(
  {
    number: Type.Integer({ description: 'The number of the attempt, from 1.' }),
    cause: causeField,
    status: optional(Type.Integer({ description: 'The status of the response; absent without one.' })),
    error: optional(Type.String({ description: 'The reason of the failure; absent after a success.' })),
    durationMs: Type.Integer({ description: 'The time until the response, in milliseconds.' }),
    createDate: createDateField,
    requestHeaders: headersField('The headers that were sent.'),
    requestBody: optional(
      Type.String({
        description:
          'The body byte for byte, up to its first 65,536 characters; the token of the UnsubscribeURL of v1 is replaced by REDACTED. Absent of attempts that were made by a version without it.',
      }),
    ),
    requestBytes: optional(Type.Integer({ description: 'The size of the body that was sent, in bytes.' })),
    responseHeaders: optional(headersField('The first headers of the response.')),
    responseBody: optional(
      Type.String({ description: 'The first 300 characters of the body of the response.' }),
    ),
  },
  { title: 'DeliveryAttempt', description: 'An attempt to deliver.' },
)

const notificationFields = {
  id: idField('The id of the notification, the same at every attempt.'),
  line: Type.Enum(['v1', 'v2'], { description: 'v1 of the business account, v2 of wallets.' }),
  topic: Type.String({ description: 'The type.' }),
  resourceId: idField('The resource.'),
  message: Type.String({
    description: 'The JSON text of the resource: the Message of v1, the member notification of v2.',
  }),
  orderNumber: Type.Integer({ description: 'Increases with each notification of the resource.' }),
  previousId: optional(idField('The notification before it of the same resource.')),
  createDate: createDateField,
}

export const notificationSchema = Type.Object(
  {
    ...notificationFields,
    deliveries: Type.Array(
      Type.Object(deliveryFields, { title: 'Delivery', description: 'The delivery to one subscription.' }),
      { description: 'The deliveries, one for each subscription.' },
    ),
  },
  { title: 'LoggedNotification', description: 'A notification and its deliveries.' },
)

export const notificationDetailSchema = Type.Object(
  {
    ...notificationFields,
    deliveries: Type.Array(
      Type.Object(
        {
          ...deliveryFields,
          attempts: Type.Array(attemptSchema, { description: 'The attempts, oldest first.' }),
        },
        { title: 'DeliveryWithAttempts', description: 'The delivery to one subscription.' },
      ),
      { description: 'The deliveries, one for each subscription.' },
    ),
  },
  {
    title: 'LoggedNotificationWithAttempts',
    description: 'A notification with every attempt to deliver it.',
  },
)

export const resendNotificationBody = Type.Object(
  {
    subscriptionId: optional(
      idField('The subscription to send it to. Default: all that receive its type at present.'),
    ),
  },
  { title: 'ResendNotificationRequest', description: 'The receiver.' },
)

export const replayBody = Type.Object(
  {
    from: dateField('The earliest creation date.'),
    to: optional(dateField('The latest creation date. Default: the time of the request.')),
    state: Type.Enum(['failed', 'missing', 'all'], {
      description:
        'failed or dropped; missing, which were never queued for it; or all, delivered ones too. Waiting ones stay as they are.',
    }),
    topics: optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: 'The types. Default: all that the subscription receives.',
      }),
    ),
    ratePerSecond: optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'The rate of sending. Default: 50.' }),
    ),
  },
  { title: 'ReplayNotificationsRequest', description: 'The notifications to send again.' },
)

export const replaySchema = Type.Object(
  {
    id: idField('The id of the replay.'),
    total: Type.Integer({ description: 'The number of its notifications.' }),
    done: Type.Integer({ description: 'The number of those that were delivered.' }),
    failed: Type.Integer({ description: 'The number of those that failed or were dropped.' }),
    state: Type.Enum(['running', 'done'], { description: 'done when none waits any more.' }),
  },
  { title: 'Replay', description: 'Notifications that are sent again, and the progress.' },
)

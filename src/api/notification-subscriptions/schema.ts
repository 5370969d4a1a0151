import Type from 'typebox'
import { droppedFields, idField } from '#api/fields'
import { idParams } from '#runtime/http/openapi/annotate'

export const newSubscriptionSchema = Type.Object(
  {
    endpoint: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description:
        'A public https address that answers HEAD with 2xx. A sandbox also takes http and https addresses of its own machine.',
    }),
  },
  {
    title: 'CreateSubscriptionRequest',
    description: 'The endpoint to subscribe.',
    examples: [{ endpoint: 'https://merchant.example/notifications' }],
  },
)

const detailSchema = Type.Object(
  {
    url: Type.String({ description: 'The name of the region, as notifications give it.' }),
    status: Type.Enum(['pending', 'confirmed', 'deleted'], {
      description: 'pending until the region is confirmed; deleted when it was not, or was unsubscribed.',
    }),
  },
  { description: 'One region of the subscription.' },
)

export const subscriptionSchema = Type.Object(
  {
    id: idField('The id of the subscription.'),
    endpoint: Type.String({ description: 'The address that notifications are posted to.' }),
    subscriptionDetails: Type.Array(detailSchema, {
      description: 'Two regions, each confirmed by a GET on the SubscribeURL that was sent for it.',
    }),
    ...droppedFields,
  },
  { title: 'Subscription', description: 'A subscription of an endpoint to all notifications.' },
)

export const subscriptionParams = idParams('SubscriptionId', 'the subscription')

/** Query of a link; its other parameters are for people and not read. */
export const linkQuery = Type.Object({
  Token: Type.String({ maxLength: 200, description: 'The token of the link in the message.' }),
})

export const linkSchema = Type.Object(
  {
    subscriptionArn: Type.String({ description: 'The name of the region of the subscription.' }),
    status: Type.Enum(['confirmed', 'deleted'], { description: 'The status of the region from now on.' }),
  },
  { title: 'FollowedLink', description: 'The region that the link confirmed or deleted.' },
)

export const certificateParams = Type.Object({
  name: Type.String({
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.pem$',
    description: 'The name of the certificate, as in SigningCertURL.',
  }),
})

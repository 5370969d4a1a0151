import Type from 'typebox'

export const newSubscriptionSchema = Type.Object(
  {
    endpoint: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description:
        'A public https address that answers HEAD with 2xx. A sandbox also takes http and https addresses of its own machine.',
    }),
  },
  { examples: [{ endpoint: 'https://merchant.example/notifications' }] },
)

const detailSchema = Type.Object({
  url: Type.String({ description: 'The name of the region, as notifications give it.' }),
  status: Type.Enum(['pending', 'confirmed', 'deleted']),
})

export const subscriptionSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  endpoint: Type.String(),
  subscriptionDetails: Type.Array(detailSchema, {
    description: 'Two regions, each confirmed by a GET on the SubscribeURL that was sent for it.',
  }),
})

export const subscriptionParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

/** Query of a link; its other parameters are for people and not read. */
export const linkQuery = Type.Object({
  Token: Type.String({ maxLength: 200, description: 'As the link in the message has it.' }),
})

export const linkSchema = Type.Object({
  subscriptionArn: Type.String(),
  status: Type.Enum(['confirmed', 'deleted']),
})

export const certificateParams = Type.Object({
  name: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.pem$' }),
})

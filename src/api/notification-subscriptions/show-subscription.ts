import { type Subscription, subscriptionArn } from '#engines/webhooks/index'

export const showSubscription = ({ id, endpoint, environment, details }: Subscription) => ({
  id,
  endpoint,
  subscriptionDetails: details.map((detail) => ({
    url: subscriptionArn(environment, detail.region, detail.id),
    status: detail.status,
  })),
})

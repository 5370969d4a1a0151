import { type Subscription, subscriptionArn } from '#engines/webhooks/index'

export const showSubscription = ({ id, endpoint, environment, details, ...row }: Subscription) => ({
  id,
  endpoint,
  ...(row.droppedDate !== null && { droppedCount: row.droppedCount, droppedDate: row.droppedDate }),
  subscriptionDetails: details.map((detail) => ({
    url: subscriptionArn(environment, detail.region, detail.id),
    status: detail.status,
  })),
})

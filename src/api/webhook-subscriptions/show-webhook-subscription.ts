import { disableDateOf, type WebhookSubscription } from '#engines/webhooks/index'

export function showWebhookSubscription({
  entityId: _,
  failingSince,
  droppedCount,
  droppedDate,
  notificationTypes,
  addresses: __,
  domains: ___,
  ...shown
}: WebhookSubscription) {
  return {
    ...shown,
    notificationTypes,
    restricted: !notificationTypes.includes('*'),
    ...(failingSince !== null && { failingSince, disableDate: disableDateOf(failingSince) }),
    ...(droppedDate !== null && { droppedCount, droppedDate }),
  }
}

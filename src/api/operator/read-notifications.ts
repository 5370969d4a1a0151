import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import {
  type LoggedAttempt,
  type LoggedDelivery,
  type LoggedNotification,
  notificationsPage,
  readNotification,
} from '#engines/webhooks/index'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { notificationFilters } from './notification-schema.ts'
import { presentFields } from './present-fields.ts'

export async function listNotifications(
  ctx: Ctx,
  filters: Static<typeof notificationFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await notificationsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showNotification) }
}

export async function getNotification(ctx: Ctx, id: string) {
  const { attempts, ...found } = await readNotification(ctx, id)
  const shown = showNotification(found)
  const deliveries = shown.deliveries.map((delivery) => ({
    ...delivery,
    attempts: attempts.filter((each) => each.subscriptionId === delivery.subscriptionId).map(showAttempt),
  }))
  return { ...shown, deliveries }
}

export const showNotification = ({ previousId, deliveries, ...shown }: LoggedNotification) => ({
  ...shown,
  ...(previousId !== null && { previousId }),
  deliveries: deliveries.map(showDelivery),
})

const showDelivery = ({ dueDate, ...shown }: LoggedDelivery) => ({
  ...shown,
  ...(shown.state === 'waiting' && { dueDate }),
})

const showAttempt = ({ subscriptionId: _, ...attempt }: LoggedAttempt) => presentFields(attempt)

import { raw, type Sql, sql } from './db/db.ts'
import type { RequestScope } from './scope.ts'

/**
 * The owner of wallets and transactions that a request or an engine reaches: all of an entity (`userId` absent), one of its
 * users, or its developer, whose rows have no user (`null`).
 */
export type RowOwner = { entityId: string; userId?: string | null | undefined }

type Requester = Pick<RequestScope, 'entity' | 'user'>

/** The rows that a request may read: those of its user or, without a user token, of its entity. */
export const readableBy = ({ entity, user }: Requester): RowOwner => ({
  entityId: entity.id,
  userId: user?.userId,
})

/** The rows that a request may act with: those of its user or, without a user token, of its developer. */
export const usableBy = ({ entity, user }: Requester): RowOwner => ({
  entityId: entity.id,
  userId: user?.userId ?? null,
})

/** The condition that the row under this alias belongs to the owner. */
export function isOwned(alias: string, { entityId, userId }: RowOwner): Sql {
  const ofEntity = sql`${raw(`${alias}.entity_id`)} = ${entityId}`
  if (userId === undefined) return ofEntity
  const user = raw(`${alias}.user_id`)
  return userId === null ? sql`${ofEntity} and ${user} is null` : sql`${ofEntity} and ${user} = ${userId}`
}

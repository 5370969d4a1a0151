import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import type { ChallengeType, Summary } from './types.ts'

/** Whose challenges are meant; `userId` is the id that the app chose. */
export type ChallengeOwner = { entityId: string; userId: string }

export type ChallengeRow = {
  id: string
  userId: string
  type: ChallengeType
  /** JSON. */
  request: string
  summary: string
  status: 'PENDING' | 'COMPLETE' | 'FAILED'
  correlationIds: string[]
  errorCode: number | null
  errorMessage: string | null
  expireDate: string
  createDate: string
}

const columns = sql`c.id, c.user_id, c.type, c.request, c.summary, c.status, c.correlation_ids, c.error_code,
  c.error_message, c.expire_date, c.create_date`

type NewChallenge = ChallengeOwner & {
  id: string
  type: ChallengeType
  request: object
  summary: Summary
  nowMs: number
  expireMs: number
}

export async function insertChallenge(tx: Db, row: NewChallenge): Promise<void> {
  const now = formatInstant(row.nowMs)
  await tx.run(sql`insert into challenges (entity_id, id, user_id, type, request, summary, expire_date, create_date,
      update_date)
    values (${row.entityId}, ${row.id}, ${row.userId}, ${row.type}, ${JSON.stringify(row.request)},
      ${JSON.stringify(row.summary)}, ${formatInstant(row.expireMs)}, ${now}, ${now})`)
}

const isOf = ({ entityId, userId }: ChallengeOwner) =>
  sql`c.entity_id = ${entityId} and c.user_id = ${userId}`

export const findChallenge = (db: Db, owner: ChallengeOwner, id: string) =>
  db.maybe<ChallengeRow>(sql`select ${columns} from challenges c where ${isOf(owner)} and c.id = ${id}`)

/** Any challenge of an entity. */
export const findChallengeOf = (db: Db, entityId: string, id: string) =>
  db.maybe<ChallengeRow>(
    sql`select ${columns} from challenges c where c.entity_id = ${entityId} and c.id = ${id}`,
  )

/** Locks a challenge until the `tx` ends, so that one approval at a time decides about it. */
export const lockChallenge = (tx: Db, owner: ChallengeOwner, id: string) =>
  tx.maybe<ChallengeRow>(
    sql`select ${columns} from challenges c where ${isOf(owner)} and c.id = ${id} for no key update`,
  )

/** Expired challenges are pending in the table. None is ever IN_PROGRESS: an approval carries it out at once. */
export const listChallenges = (
  db: Db,
  owner: ChallengeOwner,
  status: 'PENDING' | 'IN_PROGRESS' | undefined,
  nowMs: number,
  page: PageQuery,
) => {
  const filters = [
    status && sql`c.status = ${status}`,
    status && sql`c.expire_date > ${formatInstant(nowMs)}`,
  ]
  return readPage<ChallengeRow>(
    db,
    { columns, from: sql`challenges c`, alias: 'c', scope: isOf(owner), filters },
    page,
  )
}

type Ended = { nowMs: number; correlationIds: readonly string[] }

export const completeChallenge = (
  tx: Db,
  { entityId, userId }: ChallengeOwner,
  id: string,
  { nowMs, correlationIds }: Ended,
) =>
  tx.run(sql`update challenges set status = 'COMPLETE', correlation_ids = ${correlationIds}::uuid[],
      update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and user_id = ${userId} and id = ${id}`)

/** Ends a pending challenge with an error; false when it has ended otherwise. */
export const failChallenge = async (
  tx: Db,
  { entityId, userId }: ChallengeOwner,
  id: string,
  error: { code: number; message: string },
  nowMs: number,
): Promise<boolean> =>
  (await tx.run(sql`update challenges set status = 'FAILED', error_code = ${error.code}, error_message = ${error.message},
      update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and user_id = ${userId} and id = ${id} and status = 'PENDING'`)) === 1

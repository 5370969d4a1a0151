import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, type Sql, sql } from '#runtime/db/db'
import { type SecretRow, type SecretState, type SecretStatus, secretStateOf } from './user-guesses.ts'

/** A user of an entity's app. `userId` is the id that the app chose; `id` is internal, and the cursor of lists. */
export type User = {
  id: string
  userId: string
  status: 'ENABLED' | 'DISABLED'
  pin: SecretState
  answers: SecretState
  createDate: string
}

type UserRow = Omit<User, 'pin' | 'answers'> & {
  pinFailed: number | null
  pinLocked: string | null
  pinUntil: string | null
  pinOverride: string | null
  answersFailed: number | null
  answersLocked: string | null
  answersUntil: string | null
  answersOverride: string | null
}

const source = sql`users u
  left join user_key_secrets pin on pin.entity_id = u.entity_id and pin.user_id = u.id and pin.kind = 'pin'
  left join user_key_secrets answers on answers.entity_id = u.entity_id and answers.user_id = u.id
    and answers.kind = 'answers'`

const columns = sql`u.id, u.user_id, u.status, u.create_date, pin.failed_guesses as pin_failed,
  pin.locked_date as pin_locked, pin.locked_until as pin_until, pin.override_date as pin_override,
  answers.failed_guesses as answers_failed, answers.locked_date as answers_locked, answers.locked_until as answers_until,
  answers.override_date as answers_override`

const userOf = (row: UserRow, nowMs: number): User => ({
  id: row.id,
  userId: row.userId,
  status: row.status,
  pin: stateOf(row.pinFailed, row.pinLocked, row.pinUntil, row.pinOverride, nowMs),
  answers: stateOf(row.answersFailed, row.answersLocked, row.answersUntil, row.answersOverride, nowMs),
  createDate: row.createDate,
})

function stateOf(
  failedGuesses: number | null,
  lockedDate: string | null,
  lockedUntil: string | null,
  overrideDate: string | null,
  nowMs: number,
): SecretState {
  const row: Omit<SecretRow, 'kind'> | undefined =
    failedGuesses === null ? undefined : { failedGuesses, lockedDate, lockedUntil, overrideDate }
  return secretStateOf(row, nowMs)
}

/** The status that `secretStateOf` computes, as a condition of lists. */
const statusOf = (secret: 'pin' | 'answers', nowMs: number): Sql =>
  sql`case when ${raw(secret)}.kind is null then 'UNSET'
    when ${raw(secret)}.locked_until > ${formatInstant(nowMs)} then 'LOCKED' else 'ENABLED' end`

/** Stores a user; `false` when the entity has one with this userId. */
export const insertUser = async (
  tx: Db,
  entityId: string,
  { id, userId, nowMs }: { id: string; userId: string; nowMs: number },
): Promise<boolean> =>
  (await tx.run(sql`insert into users (entity_id, id, user_id, create_date)
    values (${entityId}, ${id}, ${userId}, ${formatInstant(nowMs)})
    on conflict (entity_id, user_id) do nothing`)) === 1

export const updateUserStatus = (tx: Db, entityId: string, userId: string, status: User['status']) =>
  tx.run(sql`update users set status = ${status} where entity_id = ${entityId} and user_id = ${userId}`)

export async function findUser(
  db: Db,
  entityId: string,
  userId: string,
  nowMs: number,
): Promise<User | undefined> {
  const row = await db.maybe<UserRow>(sql`select ${columns} from ${source}
    where u.entity_id = ${entityId} and u.user_id = ${userId}`)
  return row && userOf(row, nowMs)
}

type UserFilters = {
  pinStatus?: SecretStatus | undefined
  securityQuestionStatus?: SecretStatus | undefined
}

/** One page of the entity's users. A cursor is the internal id of a user, or a userId that is a UUID. */
export async function listUsers(
  db: Db,
  entityId: string,
  { pinStatus, securityQuestionStatus }: UserFilters,
  page: PageQuery,
  nowMs: number,
) {
  const cursor = page.pageAfter ?? page.pageBefore
  const named = cursor === undefined ? undefined : await idOf(db, entityId, cursor)
  const found = await readPage<UserRow>(
    db,
    {
      columns,
      from: source,
      alias: 'u',
      scope: sql`u.entity_id = ${entityId}`,
      filters: [
        pinStatus && sql`${statusOf('pin', nowMs)} = ${pinStatus}`,
        securityQuestionStatus && sql`${statusOf('answers', nowMs)} = ${securityQuestionStatus}`,
      ],
    },
    named === undefined ? page : { ...page, [page.pageAfter ? 'pageAfter' : 'pageBefore']: named },
  )
  return { ...found, rows: found.rows.map((row) => userOf(row, nowMs)) }
}

const idOf = async (db: Db, entityId: string, userId: string): Promise<string | undefined> =>
  (
    await db.maybe<{ id: string }>(
      sql`select id from users where entity_id = ${entityId} and user_id = ${userId}`,
    )
  )?.id

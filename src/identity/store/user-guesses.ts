import { parseInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import type { UserRef } from './user-keys.ts'

export type GuessKind = 'pin' | 'answers'

export type GuessRef = UserRef & { kind: GuessKind }

/** The state of the counter of one secret of one user; see the table. */
export type Guesses = {
  counted: number
  cleared: number
  locks: number
  locking: number | null
  lockedDate: string | null
  lockedUntil: string | null
}

const columns = sql`counted, cleared, locks, locking, locked_date, locked_until`

/** Locks the counter until the tx ends; it begins with the first guess. */
export async function lockGuesses(tx: Db, { entityId, userId, kind }: GuessRef): Promise<Guesses> {
  await tx.run(sql`insert into user_key_guesses (entity_id, user_id, kind) values (${entityId}, ${userId}, ${kind})
    on conflict do nothing`)
  return tx.one<Guesses>(sql`select ${columns} from user_key_guesses
    where entity_id = ${entityId} and user_id = ${userId} and kind = ${kind} for no key update`)
}

export const setGuesses = (tx: Db, { entityId, userId, kind }: GuessRef, row: Guesses) =>
  tx.run(sql`update user_key_guesses set counted = ${row.counted}, cleared = ${row.cleared}, locks = ${row.locks},
      locking = ${row.locking}, locked_date = ${row.lockedDate}, locked_until = ${row.lockedUntil}
    where entity_id = ${entityId} and user_id = ${userId} and kind = ${kind}`)

export const setOverrideDate = (tx: Db, { entityId, userId, kind }: GuessRef, overrideDate: string) =>
  tx.run(sql`update user_key_guesses set override_date = ${overrideDate}
    where entity_id = ${entityId} and user_id = ${userId} and kind = ${kind}`)

export type SecretRow = {
  kind: GuessKind
  failedGuesses: number
  lockedDate: string | null
  lockedUntil: string | null
  overrideDate: string | null
}

/** The PIN and the answers of a user, as far as they are set, with their counters. */
export const secretsOf = (db: Db, { entityId, userId }: UserRef) =>
  db.all<SecretRow>(sql`select kind, failed_guesses, locked_date, locked_until, override_date
    from user_key_secrets where entity_id = ${entityId} and user_id = ${userId}`)

export const secretStatuses = ['UNSET', 'ENABLED', 'LOCKED'] as const
export type SecretStatus = (typeof secretStatuses)[number]

/** The state of a PIN or of answers, as the interface shows it. */
export type SecretState = {
  status: SecretStatus
  failedAttempts: number
  lockedDate?: string
  lockedExpiryDate?: string
  lastLockOverrideDate?: string
}

/** The state at this time of a secret; the row is missing until it is set. */
export function secretStateOf(row: Omit<SecretRow, 'kind'> | undefined, nowMs: number): SecretState {
  if (!row) return { status: 'UNSET', failedAttempts: 0 }
  const { lockedDate, lockedUntil, overrideDate } = row
  const isLocked = lockedUntil !== null && nowMs < parseInstant(lockedUntil)!
  const isOver = lockedUntil !== null && !isLocked
  return {
    status: isLocked ? 'LOCKED' : 'ENABLED',
    failedAttempts: isOver ? 0 : row.failedGuesses,
    ...(isLocked && { lockedDate: lockedDate!, lockedExpiryDate: lockedUntil }),
    ...(overrideDate && { lastLockOverrideDate: overrideDate }),
  }
}

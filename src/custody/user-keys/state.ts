import { parseInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { type GuessKind, type SecretRow, secretsOf } from '../store/user-guesses.ts'
import { findUserKey, type UserRef } from '../store/user-keys.ts'

/** The state of a PIN or of answers, as the interface shows it. */
export type SecretState = {
  status: 'UNSET' | 'ENABLED' | 'LOCKED'
  failedAttempts: number
  lockedDate?: string
  lockedExpiryDate?: string
  lastLockOverrideDate?: string
}

export type UserKeyState = {
  pin: SecretState
  answers: SecretState
  /** In the order in which they are answered; empty until they are set. */
  questions: readonly string[]
}

/** Returns whether PIN and answers are set or locked at this time. The questions are no secret; answers are never shown. */
export async function userKeyStateOf(db: Db, user: UserRef, nowMs: number): Promise<UserKeyState> {
  const [rows, key] = await Promise.all([secretsOf(db, user), findUserKey(db, user)])
  const stateOf = (kind: GuessKind) =>
    secretStateOf(
      rows.find((row) => row.kind === kind),
      nowMs,
    )
  return { pin: stateOf('pin'), answers: stateOf('answers'), questions: key?.questions ?? [] }
}

function secretStateOf(row: SecretRow | undefined, nowMs: number): SecretState {
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

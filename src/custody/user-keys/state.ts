import type { Db } from '#runtime/db/db'
import { type GuessKind, type SecretState, secretStateOf, secretsOf } from '../store/user-guesses.ts'
import { findUserKey, type UserRef } from '../store/user-keys.ts'

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

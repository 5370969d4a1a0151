import type { Db } from '#runtime/db/db'
import { type GuessKind, type SecretState, secretStateOf, secretsOf } from '../store/user-guesses.ts'
import { findUserKey, type UserRef, waysOf } from '../store/user-keys.ts'

export type UserKeyState = {
  pin: SecretState
  answers: SecretState
  /** In the order in which they are answered; empty until they are set. */
  questions: readonly string[]
  /** The kind of secret that opens the user's key; absent until there is a key. */
  opensWith: 'pin' | 'device' | undefined
  /** The devices that open it. */
  devices: readonly string[]
}

/** Returns whether PIN and answers are set or locked at this time. The questions are no secret; answers are never shown. */
export async function userKeyStateOf(db: Db, user: UserRef, nowMs: number): Promise<UserKeyState> {
  const rows = await secretsOf(db, user)
  const key = await findUserKey(db, user)
  const ways = await waysOf(db, user)
  const stateOf = (kind: GuessKind) =>
    secretStateOf(
      rows.find((row) => row.kind === kind),
      nowMs,
    )
  const devices = ways.filter(({ kind }) => kind === 'device').map(({ slot }) => slot)
  return {
    pin: stateOf('pin'),
    answers: stateOf('answers'),
    questions: key?.questions ?? [],
    opensWith: ways.some(({ kind }) => kind === 'pin') ? 'pin' : key && 'device',
    devices,
  }
}

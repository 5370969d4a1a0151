/** The versions of the root key and the state of a rotation, for an operator. */
import type { Db } from '#runtime/db/db'
import { checkFingerprintOf, rootCheckValueOf } from '../sealing/sealing.ts'
import { type RootKeyRow, rootKeyRows } from '../store/root-keys.ts'
import { isLeaving, requireSealing, sealingOf } from './open.ts'

/** The state of each version. */
type RootKeyState = Pick<
  RootKeyRow,
  'version' | 'createDate' | 'activeDate' | 'closedDate' | 'retiredDate'
> & {
  /** The first digits of its check value. */
  fingerprint: string
  /** Whether it is among the keys that were asked about. */
  isGiven: boolean
}

/** The versions of the root key that the database knows, oldest first, and which of them these keys are. */
export const rootKeyStates = async (db: Db, given: readonly Buffer[]): Promise<RootKeyState[]> =>
  (await rootKeyRows(db)).map(({ checkValue, sealedKeys: _, ...row }) => ({
    ...row,
    fingerprint: checkFingerprintOf(checkValue),
    isGiven: given.some((key) => rootCheckValueOf(key).equals(checkValue)),
  }))

/**
 * Says which version seals, and what there is to do. Throws an error with the remedy when a process with these keys would not start.
 * `givenCount` is the number of keys that were asked about.
 */
export function rootKeyAdvice(states: readonly RootKeyState[], givenCount: number): string {
  if (states.length === 0) return 'found'
  const given = states.filter(({ isGiven }) => isGiven)
  if (given.length === 0)
    throw new Error(
      'the database was sealed with another root key: set BEZANT_ROOT_KEY or root.key to that one',
    )
  const sealing = sealingOf(states)
  const held = given.map(({ version }) => version)
  requireSealing(states, held, sealing)
  const retired = given.filter(({ retiredDate }) => retiredDate !== null)
  const isNew = held.some((version) => version > sealing) || given.length < givenCount
  const isRotating = states.some((state) => isLeaving(state, sealing))
  return [
    `version ${sealing} seals`,
    retired.length > 0 &&
      `remove version ${retired.map(({ version }) => version).join(' and ')}, which is retired`,
    isNew && 'a newer one is given: restart every process with both, and then run bezant root-key rotate',
    isRotating && 'a rotation has not ended: run bezant root-key rotate',
  ]
    .filter((part) => part !== false)
    .join('; ')
}

/** The versions of the root key and the state of a rotation, for an operator. */
import type { Db } from '#runtime/db/db'
import type { KeyService } from '../key-services/index.ts'
import { checkFingerprintOf, rootCheckValueOf } from '../sealing/sealing.ts'
import { type RootKeyRow, rootKeyRows } from '../store/root-keys.ts'
import { isLeaving, requireSealing, sealingOf } from './open.ts'
import { unwrapRootKeys } from './wrapped.ts'

/** The state of each version. */
type RootKeyState = Pick<
  RootKeyRow,
  'version' | 'wrappedBy' | 'createDate' | 'activeDate' | 'closedDate' | 'retiredDate'
> & {
  /** The first digits of its check value. */
  fingerprint: string
  /** Whether it is among the keys that were asked about. */
  isGiven: boolean
  /** Whether the key service gave its key. */
  isUnwrapped: boolean
}

/**
 * The versions of the root key that the database knows, oldest first, and which of them these keys are. With a key service, it is asked
 * for those that it has to unwrap: throws `KeyServiceAway` and `KeyServiceRefused`.
 */
export async function rootKeyStates(
  db: Db,
  given: readonly Buffer[],
  service?: KeyService,
): Promise<RootKeyState[]> {
  const rows = await rootKeyRows(db)
  const unwrapped = service ? await unwrapRootKeys(service, rows, given) : []
  const isAmong = (keys: readonly Buffer[], checkValue: Buffer) =>
    keys.some((key) => rootCheckValueOf(key).equals(checkValue))
  const states = rows.map(({ checkValue, sealedKeys: _, wrappedKey: __, ...row }) => ({
    ...row,
    fingerprint: checkFingerprintOf(checkValue),
    isGiven: isAmong(given, checkValue),
    isUnwrapped: isAmong(unwrapped, checkValue),
  }))
  for (const key of unwrapped) key.fill(0)
  return states
}

/**
 * Says which version seals, and what there is to do. Throws an error with the remedy when a process with these keys would not start.
 * `givenCount` is the number of keys that were asked about, and `hasService` whether a key service is set.
 */
export function rootKeyAdvice(
  states: readonly RootKeyState[],
  givenCount: number,
  hasService = false,
): string {
  if (states.length === 0) return hasService ? 'will be made, and wrapped by the key service' : 'found'
  const given = states.filter(({ isGiven }) => isGiven)
  const held = states.filter((state) => state.isGiven || state.isUnwrapped).map(({ version }) => version)
  const sealing = sealingOf(states)
  const { wrappedBy } = states.find(({ version }) => version === sealing)!
  if (held.length === 0 && wrappedBy === null)
    throw new Error(
      'the database was sealed with another root key: set BEZANT_ROOT_KEY or root.key to that one',
    )
  requireSealing(states, held, sealing)
  const retired = given.filter(({ retiredDate }) => retiredDate !== null)
  const isNew = given.some(({ version }) => version > sealing) || given.length < givenCount
  const isBegun = states.some(({ version, isUnwrapped }) => isUnwrapped && version > sealing)
  const isRotating = isBegun || states.some((state) => isLeaving(state, sealing))
  return [
    `version ${sealing} seals${wrappedBy === null ? '' : `, wrapped by ${wrappedBy}`}`,
    hasService &&
      wrappedBy === null &&
      !isBegun &&
      'run bezant root-key rotate for one that the key service wraps, and then remove this one from the settings',
    retired.length > 0 &&
      `remove version ${retired.map(({ version }) => version).join(' and ')}, which is retired`,
    isNew && 'a newer one is given: restart every process with both, and then run bezant root-key rotate',
    isRotating && 'a rotation has not ended: run bezant root-key rotate',
  ]
    .filter((part) => part !== false)
    .join('; ')
}

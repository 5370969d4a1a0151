import type { KeyObject } from 'node:crypto'

/** One version of the root key, as a process uses it. */
export type RootKeyVersion = {
  /** From 1; each sealed value names the version that sealed it. */
  version: number
  /** Seals values. */
  sealing: KeyObject
  /** Salt of the keys that are derived from entity secrets: that of version 1 counts for good. */
  salt: KeyObject
  /** Whether nothing is sealed with it any more, so that a value that names it is refused. */
  isRetired: boolean
}

/**
 * The versions of the root key that a process knows: those that it was given, and former ones, which the newest one seals. All
 * methods return at once.
 */
export type RootKeys = {
  /** The version that seals new values. */
  newest(): RootKeyVersion
  /** The version that a sealed value names. Throws `RootKeyUnknown`, and `RootKeyRetired` where nothing may be sealed with it. */
  open(version: number): RootKeyVersion
  /** Every version that the process knows, newest first, also retired ones. */
  known(): readonly RootKeyVersion[]
}

/** Thrown for a value that is sealed with a version of the root key which this process was not given. */
export class RootKeyUnknown extends Error {
  constructor(version: number) {
    super(
      `a value is sealed with version ${version} of the root key, which this process does not have: add that key to BEZANT_ROOT_KEY, or to root.key of the data directory, and start the process again`,
    )
  }
}

/** Thrown for a value that is sealed with a version of the root key which was retired: such a value comes from an old copy. */
export class RootKeyRetired extends Error {
  constructor(version: number) {
    super(
      `a value is sealed with version ${version} of the root key, which is retired: it was copied from a database of before the rotation`,
    )
  }
}

/** Thrown where something would be made with a version of the root key that is closed: this process has not heard of it yet. */
export class RootKeyClosed extends Error {
  constructor(version: number) {
    super(
      `version ${version} of the root key is closed, and a later one seals: this process learns it within seconds, unless it was not given that key`,
    )
  }
}

/** The keys of versions that a process knows. `versions` may grow, and the version that seals may change, while it runs. */
export function rootKeysOf(versions: readonly RootKeyVersion[], newest: () => number): RootKeys {
  const find = (version: number) => versions.find((each) => each.version === version)
  return {
    newest: () => find(newest())!,
    open: (version) => {
      const found = find(version)
      if (!found) throw new RootKeyUnknown(version)
      if (found.isRetired) throw new RootKeyRetired(version)
      return found
    },
    known: () => versions.toSorted((a, b) => b.version - a.version),
  }
}

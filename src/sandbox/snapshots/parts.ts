/**
 * A part of a sandbox that keeps something in memory, beside the database, the chains and the directories: a snapshot holds what it
 * returns, and a restore gives that back to it. `lab.ts` lists them all.
 */
export type SnapshotPart = {
  /** The name of its file in a snapshot. */
  name: string
  /** Returns what it keeps, as values of JSON. */
  save(): readonly unknown[]
  /** Replaces what it keeps; a promise is awaited. */
  restore(saved: readonly unknown[]): unknown
  /** Ends the requests that wait in it, which would otherwise hold up a snapshot. */
  endWaits?(): void
}

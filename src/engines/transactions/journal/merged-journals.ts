import type { Db } from '#runtime/db/db'
import { journalsAreAwaited } from '../store/journals.ts'
import type { JournalKeeper } from './keeper.ts'

/** The journals of all workers, for engines above this one. */
export type Journals = {
  /** Resolves when they are merged for the first time. */
  whenMerged: Promise<void>
  /** Whether every transaction that was sent is in the database. */
  areMerged(db: Db): Promise<boolean>
}

/** The journals as the database alone shows them, for a process without a transaction worker. */
export const journalsOfOthers: Journals = {
  whenMerged: Promise.resolve(),
  areMerged: async (db) => !(await journalsAreAwaited(db)),
}

/** A keeper also sees that the database is older than the last state that its journal knows. */
export const journalsOf = (
  keeper: Pick<JournalKeeper, 'mayFollow'>,
  whenMerged: Promise<void>,
): Journals => ({
  whenMerged,
  areMerged: async (db) => (await keeper.mayFollow(db)) && !(await journalsAreAwaited(db)),
})

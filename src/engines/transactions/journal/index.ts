/** Journals of signed transactions beside the database. */

export { adoptCopy, awaitedJournals, journalsAreAwaited } from '../store/journals.ts'
export { journalsDirectory } from './directory.ts'
export { type Journals, journalsOfOthers } from './merged-journals.ts'
export { declareJournalLost, listWorkerJournals, mergeWorkerJournal } from './operator-commands.ts'
export type { JournaledResources } from './resources.ts'

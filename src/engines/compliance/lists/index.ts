/** Lists of addresses, in versions. */

export { findListed } from '../store/entries.ts'
export type { IssuerEntry } from '../store/issuer-changes.ts'
export { listedAddresses } from '../store/listed-addresses.ts'
export {
  type ListVersion,
  listHistory,
  listsRevision,
  listVersionsPage,
  presentLists,
  presentVersions,
  shareLists,
} from '../store/lists.ts'
export { addEntry, removeEntry } from './change-entry.ts'
export type { ListScope } from './change-list.ts'
export { addBlocked, followIssuers, issuerListOf, undoIssuers } from './follow-issuer.ts'
export { importList, listFormats } from './import-list.ts'
export { ListProblem } from './list-problem.ts'
export { rollBackList } from './roll-back.ts'

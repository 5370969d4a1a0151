/** The days of the books that are over, and what belongs to each. */

export { startClosing } from './close-days.ts'
export { closedDays } from './store/closed-days.ts'
export {
  dayAfter,
  type ExportedAccount,
  exportedAccounts,
  type JournalLine,
  journalLines,
  openingOf,
  type StatementLine,
  statementLines,
} from './store/journal.ts'

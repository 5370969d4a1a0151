/**
 * Reads what moves money, across all engines: one list of it, and the timeline of each movement. It writes nothing and runs
 * nothing. Each engine declares which of its rows are movements; what is recorded of one is joined here.
 */
export { readLabels } from './address-labels.ts'
export { findMovement, movementsPage, phaseOf } from './list-movements.ts'
export { needKinds, severities } from './overview/needs.ts'
export { readOverview } from './overview/read-overview.ts'
export { search } from './search/search.ts'
export { type FoundKind, foundKinds } from './search/store.ts'
export { prefixMin } from './search/word.ts'
export { readTimeline } from './timeline/timeline.ts'
export { type CausesOf, laneKinds, type TimelineLane, tones } from './timeline/types.ts'

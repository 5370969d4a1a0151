import type { TimelineLane } from './types.ts'

const shownMax = 200
const lanesMax = 60

/** Leaves out the middle of long lanes, so that a timeline of any length can be read and sent: whatever is cut is counted. */
export function fold(lanes: readonly TimelineLane[]): { lanes: TimelineLane[]; truncated: boolean } {
  const kept =
    lanes.length > lanesMax ? [...lanes.slice(0, lanesMax / 2), ...lanes.slice(-lanesMax / 2)] : lanes
  const total = kept.reduce((sum, lane) => sum + lane.spans.length + lane.marks.length, 0)
  const truncated = kept.length < lanes.length
  if (total <= shownMax) return { lanes: [...kept], truncated }
  const most = Math.max(2, largestShare(kept.map(({ spans, marks }) => spans.length + marks.length)))
  return { lanes: kept.map((lane) => foldLane(lane, most)), truncated }
}

/** The number of items that each lane may show so that all together show at most `shownMax`: short lanes leave room for long ones. */
function largestShare(counts: readonly number[]): number {
  const sorted = [...counts].sort((one, other) => one - other)
  let room = shownMax
  for (const [index, count] of sorted.entries()) {
    const share = Math.floor(room / (sorted.length - index))
    if (count > share) return share
    room -= count
  }
  return room
}

function foldLane(lane: TimelineLane, most: number): TimelineLane {
  const count = lane.spans.length + lane.marks.length
  if (count <= most) return lane
  const spans = middleLeftOut(lane.spans, Math.ceil((most * lane.spans.length) / count))
  const marks = middleLeftOut(lane.marks, most - spans.length)
  return { ...lane, spans, marks, folded: count - spans.length - marks.length }
}

function middleLeftOut<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items]
  const first = Math.ceil(most / 2)
  const last = most - first
  return [...items.slice(0, first), ...(last > 0 ? items.slice(-last) : [])]
}

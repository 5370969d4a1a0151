import type { Lane, Mark, Span, Timeline } from '../api/types.ts'

/** A sentence of the timeline, with the lane that it is about. */
export type Step = {
  atMs: number
  tookMs?: number
  lane: Lane
  text: string
  tone: Span['tone']
  isDue: boolean
}

/** Everything that happened as sentences, in the order of time. This list is the truth; bars only decorate it. */
export function stepsOf({ lanes }: Pick<Timeline, 'lanes'>): Step[] {
  return lanes
    .flatMap((lane) => [
      ...lane.spans.map(
        ({ fromMs, toMs, text, tone }: Span): Step => ({
          atMs: fromMs,
          tookMs: toMs === undefined ? undefined : toMs - fromMs,
          lane,
          text,
          tone,
          isDue: false,
        }),
      ),
      ...lane.marks.map(
        ({ atMs, text, tone, isDue }: Mark): Step => ({ atMs, lane, text, tone, isDue: isDue ?? false }),
      ),
    ])
    .sort((a, b) => a.atMs - b.atMs)
}

/** All moments that the axis has to place. */
export const momentsOf = ({ lanes }: Pick<Timeline, 'lanes'>): number[] =>
  lanes.flatMap(({ spans, marks }) => [
    ...spans.flatMap(({ fromMs, toMs }) => (toMs === undefined ? [fromMs] : [fromMs, toMs])),
    ...marks.map(({ atMs }) => atMs),
  ])

/** The first moment of a lane, and how long it lasted. */
export function extentOf({ spans, marks, open }: Lane): { atMs: number; tookMs?: number } {
  const starts = [...spans.map(({ fromMs }) => fromMs), ...marks.map(({ atMs }) => atMs)]
  const ends = [
    ...spans.map(({ toMs, fromMs }) => toMs ?? fromMs),
    ...marks.filter(({ isDue }) => !isDue).map(({ atMs }) => atMs),
  ]
  const atMs = starts.length > 0 ? Math.min(...starts) : 0
  const lastMs = ends.length > 0 ? Math.max(...ends) : atMs
  return { atMs, tookMs: open || lastMs === atMs ? undefined : lastMs - atMs }
}

/** The moments at which blocks were orphaned: a line across all lanes. */
export const reorgsOf = ({ lanes }: Pick<Timeline, 'lanes'>): number[] => [
  ...new Set(
    lanes
      .filter(({ kind }) => kind === 'block')
      .flatMap(({ spans, marks }) => [
        ...spans.filter(({ state }) => state === 'orphaned').map(({ fromMs, toMs }) => toMs ?? fromMs),
        ...marks.filter(({ what }) => /undone|orphaned/.test(what)).map(({ atMs }) => atMs),
      ]),
  ),
]

/** The title of a row, and its second line: the note of the lane, or else its last sentence. */
export function headingOf(lane: Lane): { title: string; note?: string } {
  const { kind, title } = lane
  const note = lane.note ?? stepsOf({ lanes: [lane] }).at(-1)?.text
  if (kind === 'request') return { title: 'Request', note: title }
  if (kind !== 'endpoint') return { title, note }
  const url = URL.canParse(title) ? new URL(title) : undefined
  return url
    ? { title: url.host, note: [url.pathname, lane.note].filter(Boolean).join(' · ') }
    : { title, note }
}

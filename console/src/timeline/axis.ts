/** A piece of the axis: what lies between two moments takes a share of its width. */
type Piece = { fromMs: number; toMs: number; from: number; to: number; isFolded: boolean }

export type Tick = { atMs: number; at: number }

/** Where moments lie on the axis, as shares of its width between 0 and 1. */
export type Axis = {
  at: (ms: number) => number
  ticks: readonly Tick[]
  /** The beginning, drawn larger than the rest, where most of it happens. */
  zoom?: { to: number; times: number }
  /** The time after the end of the movement, drawn smaller than the rest. */
  tail?: { from: number; lengthMs: number }
  /** Times in which nothing happened, with their lengths. */
  folds: readonly { from: number; to: number; lengthMs: number }[]
}

const foldedFromMs = 60_000
const foldShare = 0.06
const zoomShare = 0.22
/** The part of the time that is drawn larger when half of what happened lies in it. */
const zoomPart = 0.02
const tailShare = 0.2

/**
 * The axis of a movement that ended after `overMs`. Attempts of webhooks may follow for days: where they take more than a third of
 * the time, they share the last fifth of the width, so that they do not squeeze the movement itself.
 */
export function axisWithTail(momentsMs: readonly number[], endMs: number, overMs: number | undefined): Axis {
  const cutMs = (overMs ?? endMs) * 1.05
  if (endMs < cutMs * 1.5) return axisOf(momentsMs, endMs)
  const own = axisOf(
    momentsMs.filter((ms) => ms <= cutMs),
    cutMs,
  )
  const [from, scale] = [1 - tailShare, (at: number) => at * (1 - tailShare)]
  return {
    at: (ms) =>
      ms <= cutMs ? scale(own.at(ms)) : from + tailShare * Math.min(1, (ms - cutMs) / (endMs - cutMs)),
    ticks: own.ticks.map(({ at, atMs }) => ({ at: scale(at), atMs })),
    tail: { from, lengthMs: endMs - cutMs },
    folds: own.folds.map((fold) => ({ ...fold, from: scale(fold.from), to: scale(fold.to) })),
    ...(own.zoom && { zoom: { ...own.zoom, to: scale(own.zoom.to) } }),
  }
}

/**
 * The axis of a timeline. It is linear in real time, except that a time of a minute or more in which nothing happened is folded,
 * and that the beginning is drawn larger where half of everything happens in its first fiftieth.
 */
function axisOf(momentsMs: readonly number[], endMs: number): Axis {
  const moments = [...new Set([0, ...momentsMs.filter((ms) => ms >= 0 && ms <= endMs), endMs])].sort(
    (a, b) => a - b,
  )
  const lengthMs = Math.max(1, endMs)
  const gaps = moments
    .slice(1)
    .map((toMs, index) => ({ fromMs: moments[index]!, toMs }))
    .filter(({ fromMs, toMs }) => toMs - fromMs >= foldedFromMs)
    .map(({ fromMs, toMs }) => ({
      fromMs: fromMs + (toMs - fromMs) * 0.02,
      toMs: toMs - (toMs - fromMs) * 0.02,
    }))
  const openMs = lengthMs - gaps.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  const zoomEndMs = openMs * zoomPart
  const early = momentsMs.filter((ms) => ms <= zoomEndMs).length
  const isZoomed =
    momentsMs.length >= 6 && early * 2 >= momentsMs.length && (gaps[0]?.fromMs ?? Infinity) > zoomEndMs

  const pieces: Piece[] = []
  const foldWidth = Math.min(foldShare, 0.5 / Math.max(1, gaps.length))
  const restWidth = 1 - foldWidth * gaps.length - (isZoomed ? zoomShare : 0)
  const restMs = Math.max(1, openMs - (isZoomed ? zoomEndMs : 0))
  let [ms, at] = [0, 0]
  const add = (toMs: number, width: number, isFolded = false) => {
    pieces.push({ fromMs: ms, toMs, from: at, to: at + width, isFolded })
    ms = toMs
    at += width
  }
  if (isZoomed) add(zoomEndMs, zoomShare)
  for (const gap of gaps) {
    add(gap.fromMs, ((gap.fromMs - ms) / restMs) * restWidth)
    add(gap.toMs, foldWidth, true)
  }
  add(lengthMs, 1 - at)

  const place = (wantedMs: number): number => {
    const piece = pieces.find(({ toMs }) => wantedMs <= toMs) ?? pieces.at(-1)!
    const share = (wantedMs - piece.fromMs) / Math.max(1e-9, piece.toMs - piece.fromMs)
    return piece.from + Math.min(1, Math.max(0, share)) * (piece.to - piece.from)
  }
  return {
    at: place,
    ticks: pieces.flatMap((piece) => (piece.isFolded ? [] : ticksOf(piece, place))),
    ...(isZoomed && {
      zoom: { to: zoomShare, times: Math.round(zoomShare / zoomEndMs / (restWidth / restMs)) },
    }),
    folds: pieces
      .filter(({ isFolded }) => isFolded)
      .map(({ from, to, fromMs, toMs }) => ({ from, to, lengthMs: toMs - fromMs })),
  }
}

/** Round moments of a piece, about one for each tenth of the whole width. */
function ticksOf({ fromMs, toMs, from, to }: Piece, place: (ms: number) => number): Tick[] {
  const wanted = Math.max(1, Math.floor((to - from) / 0.1))
  const rough = (toMs - fromMs) / wanted
  if (rough <= 0) return []
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  const ticks: Tick[] = []
  for (let ms = Math.ceil(fromMs / step) * step; ms < toMs; ms += step)
    if (place(ms) < 0.97) ticks.push({ atMs: ms, at: place(ms) })
  return ticks
}

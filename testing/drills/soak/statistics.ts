/** A straight line through points by least squares, with one slope for several series that each have a level of their own. */
export type Slope = {
  /** Units of y in a unit of x, and its standard error. */
  slope: number
  standardError: number
  /** Mean of all y. */
  level: number
  points: number
}

export type Point = { x: number; y: number }

/**
 * The common slope of all series. Neighbouring samples resemble each other, which makes the usual standard error too small: it
 * is enlarged by the correlation of each residual with the one before.
 */
export function commonSlope(series: readonly (readonly Point[])[]): Slope | undefined {
  const used = series.filter((points) => points.length >= 3)
  const points = used.flat()
  const freedom = points.length - used.length - 1
  if (freedom < 3) return undefined
  const centred = used.map((each) => {
    const [x, y] = [mean(each.map((point) => point.x)), mean(each.map((point) => point.y))]
    return each.map((point) => ({ x: point.x - x, y: point.y - y }))
  })
  const all = centred.flat()
  const xx = sum(all.map(({ x }) => x * x))
  if (xx === 0) return undefined
  const slope = sum(all.map(({ x, y }) => x * y)) / xx
  const residuals = centred.map((each) => each.map(({ x, y }) => y - slope * x))
  const squares = sum(residuals.flat().map((residual) => residual * residual))
  const lagged = sum(
    residuals.flatMap((each) => each.slice(1).map((residual, index) => residual * each[index]!)),
  )
  const correlation = squares === 0 ? 0 : Math.min(0.95, Math.max(0, lagged / squares))
  const inflation = Math.sqrt((1 + correlation) / (1 - correlation))
  return {
    slope,
    standardError: Math.sqrt(squares / freedom / xx) * inflation,
    level: mean(points.map(({ y }) => y)),
    points: points.length,
  }
}

export type Judgement = 'flat' | 'grows' | 'falls' | 'undecided'

/**
 * Flat: the slope is less than `limit` in both directions with two standard errors to spare. Grows: it is more than the limit
 * with as much to spare. Undecided: the run was too short, or too noisy, to tell.
 */
export function judge({ slope, standardError }: Slope, limit: number): Judgement {
  const margin = 2 * standardError
  if (slope - margin > limit) return 'grows'
  if (slope + margin < -limit) return 'falls'
  return Math.abs(slope) + margin <= limit ? 'flat' : 'undecided'
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]) => sum(values) / values.length

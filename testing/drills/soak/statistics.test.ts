import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '#testing/adversary/seeded-random'
import { commonSlope, judge, type Point } from './statistics.ts'

const line = (length: number, y: (x: number) => number): Point[] =>
  Array.from({ length }, (_, index) => ({ x: index / 60, y: y(index / 60) }))

describe('the slope of memory', () => {
  it('is that of a straight line, whatever the levels of its series are', () => {
    const levels = fc.array(fc.double({ min: 0, max: 500, noNaN: true }), { minLength: 1, maxLength: 5 })
    const slopes = fc.double({ min: -50, max: 50, noNaN: true })
    fc.assert(
      fc.property(levels, slopes, (starts, slope) => {
        const found = commonSlope(starts.map((start) => line(20, (x) => start + slope * x)))!
        expect(found.slope).toBeCloseTo(slope, 6)
        expect(found.standardError).toBeCloseTo(0, 3)
      }),
    )
  })

  it('is given with an error that hides no growth and makes up none', () => {
    const random = seededRandom(7)
    let saw = 0
    const wrong = Array.from({ length: 200 }, () => {
      // Neighbouring samples resemble each other, as those of a heap do.
      let drift = 0
      const noise = () => {
        drift = 0.6 * drift + (random.next() - 0.5) * 4
        return drift
      }
      const { slope, standardError } = commonSlope([line(120, (x) => 100 + 3 * x + noise())])!
      saw += slope
      return Math.abs(slope - 3) > 2 * standardError
    })
    expect(saw / 200).toBeCloseTo(3, 0)
    expect(wrong.filter(Boolean).length).toBeLessThan(30)
  })

  it.each([
    ['flat', 0.1, 0.2],
    ['grows', 3, 0.5],
    ['falls', -3, 0.5],
    ['undecided', 0.5, 1],
  ])('is judged %s', (judgement, slope, standardError) => {
    expect(judge({ slope, standardError, level: 100, points: 60 }, 1)).toBe(judgement)
  })

  it('of a few samples is unknown', () => {
    expect(commonSlope([line(2, () => 1), line(2, () => 2)])).toBeUndefined()
  })
})

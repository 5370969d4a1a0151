import { randomInt } from 'node:crypto'
import { it } from 'vitest'
import { seededRandom } from '#testing/adversary/seeded-random'
import { isDeep } from './size.ts'

const random = seededRandom(randomInt(2 ** 31))
const drawsAll = isDeep || process.env['TEST_DRAWS'] === 'all'

/**
 * Returns `few` of the cases in their order, others in each run: all of them at the deep size, and with TEST_DRAWS=all, as
 * `.ci/run` and `npm run test:changed` set it.
 */
export function drawn<Case>(cases: readonly Case[], few: number): readonly Case[] {
  if (drawsAll) return cases
  const chosen = new Set(random.sample([...cases.keys()], few))
  return cases.filter((_, index) => chosen.has(index))
}

/** A third of the cases. */
export const drawnThird = <Case>(cases: readonly Case[]): readonly Case[] =>
  drawn(cases, Math.ceil(cases.length / 3))

type It = (name: string, run: () => Promise<void> | void) => void

/** Returns an `it` that is called for `count` tests, and runs `few` of them. */
export function drawnTests(few: number, count: number): It {
  const chosen = new Set(drawn([...Array(count).keys()], few))
  let index = 0
  return (name, run) => it.runIf(chosen.has(index++))(name, run)
}

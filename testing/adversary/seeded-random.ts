import { randomInt } from 'node:crypto'
import { isDeep } from '#testing/runner/size'

// A path, not an alias: the configuration of the test runner reads this file too.
export { type SeededRandom, seededRandom } from '../../src/sandbox/faults/seeded-random.ts'

/**
 * The seeds of a run: `ADVERSARY_SEED=7` replays one, `ADVERSARY_SEEDS=100` draws that many, and without either `few` are
 * drawn anew in every run, at the deep size five times as many. Put the seed into the title of the test, so that a
 * failure shows it.
 */
export function seedsOf(
  few: number,
  environment: Record<string, string | undefined> = process.env,
): number[] {
  const replayed = environment['ADVERSARY_SEED']
  if (replayed) return replayed.split(',').map(Number)
  const count = Number(environment['ADVERSARY_SEEDS'] ?? (isDeep ? 5 * few : few))
  return Array.from({ length: count }, () => randomInt(2 ** 31))
}

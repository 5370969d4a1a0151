import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { programFile } from '#testing/processes/programs'
import { drawnTests } from '#testing/runner/drawn'
import { isDeep, sizeOf } from '#testing/runner/size'
import { runMatrix } from './matrix.ts'
import type { RunResult } from './run.ts'
import { matrixPoints, scheduleOf } from './schedule.ts'
import { seededRandom } from './seeded-random.ts'

/** Draws points anew in every run; `npm run test:adversary -- --runs 500` is the measure. */
const runs = sizeOf('ADVERSARY_RUNS', { usual: 1, deep: 4 * matrixPoints.length })
const freezes = sizeOf('ADVERSARY_FREEZES', { usual: 1, deep: 8 })
const seed = Number(process.env['ADVERSARY_SEED'] ?? randomInt(2 ** 31))
const random = seededRandom(seed)

let workerArgs: readonly string[]

const settings = () => ({
  runServer: inject('runServer'),
  seed,
  jobs: availableParallelism(),
  workerArgs,
})

const defectsIn = (found: readonly RunResult[]) =>
  found.flatMap((result) =>
    result.defects.map((defect) => `--seed ${result.seed} --points ${result.point}: ${defect}`),
  )

beforeAll(async () => {
  workerArgs = [await programFile('worker')]
})

const drawnIt = drawnTests(1, 2)

describe('property 227: the crash matrix, with wallets of three families and buyers by x402', () => {
  drawnIt(
    'property 1: every accepted transfer moves its value once, or fails and moves nothing',
    async () => {
      const results = await runMatrix({
        ...settings(),
        runs,
        points: random.sample(matrixPoints, matrixPoints.length),
      })
      expect(defectsIn(results)).toEqual([])
      expect(results).toHaveLength(runs)
      const sum = (of: (result: RunResult) => number) =>
        results.reduce((total, result) => total + of(result), 0)
      console.info(
        `${runs} runs from seed ${seed}: ${sum(({ accepted }) => accepted)} transfers, ` +
          `${sum(({ delivered }) => delivered)} of ${sum(({ payments }) => payments)} payments by x402 delivered, ${sum(({ reached }) => reached)} points reached, ` +
          `${sum(({ deaths }) => deaths)} deaths, ${sum(({ freezes }) => freezes)} freezes`,
      )
      // Requires enough runs to reach their point: one may miss it, many may not.
      if (runs < matrixPoints.length) return
      expect(sum(({ reached }) => reached)).toBeGreaterThan(runs / 4)
      expect(sum(({ deaths }) => deaths)).toBeGreaterThan(0)
      expect(sum(({ delivered }) => delivered)).toBeGreaterThan(sum(({ payments }) => payments) / 4)
    },
  )

  drawnIt(
    'property 33: moves each value once although workers freeze for three leases and continue',
    async () => {
      const points = random.sample(
        [
          'after-send-lease',
          'before-attempt-commit',
          'after-attempt-commit',
          'after-signature',
          'before-send',
          'before-send-answer',
          'before-send-record',
          'before-block-commit',
        ] as const,
        freezes,
      )
      const frozen = await runMatrix({ ...settings(), runs: points.length, points, action: 'stop' })
      expect(defectsIn(frozen)).toEqual([])
      if (freezes < 8) return
      expect(frozen.reduce((total, run) => total + run.freezes, 0)).toBeGreaterThan(freezes / 2)
    },
  )

  // A test of the kit itself, which a change of the program does not affect.
  it.runIf(isDeep)('reports a worker that ended by itself, and does not replace it', async () => {
    const ending = 'data:text/javascript,setTimeout(() => process.exit(3), 1_000)'
    const args = ['--import', ending, ...workerArgs]
    const [result] = await runMatrix({
      ...settings(),
      workerArgs: args,
      runs: 1,
      points: ['during-block-rollback'],
    })
    expect(result!.defects.join()).toMatch(/worker \d+ (ended by itself|is dead)/)
  })

  it('plans the same schedule for the same seed', () => {
    expect(scheduleOf(7, 'after-attempt-commit')).toEqual(scheduleOf(7, 'after-attempt-commit'))
    expect(scheduleOf(8, 'after-attempt-commit')).not.toEqual(scheduleOf(7, 'after-attempt-commit'))
  })
})

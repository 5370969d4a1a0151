import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { compileSources } from '../compiled.ts'
import { runMatrix } from './matrix.ts'
import type { RunResult } from './run.ts'
import { matrixPoints, scheduleOf } from './schedule.ts'

/** Each point once, in every change; `npm run test:adversary -- --runs 500` is the measure. */
const runs = Number(process.env['ADVERSARY_RUNS'] ?? matrixPoints.length)
const seed = Number(process.env['ADVERSARY_SEED'] ?? 20_261)

let compiled: ReturnType<typeof compileSources>

const settings = () => ({
  databaseServer: inject('databaseServer'),
  seed,
  lanes: availableParallelism(),
  command: compiled.command,
})

const defectsIn = (found: readonly RunResult[]) =>
  found.flatMap((result) =>
    result.defects.map((defect) => `--seed ${result.seed} --points ${result.point}: ${defect}`),
  )

beforeAll(() => {
  compiled = compileSources()
})
afterAll(() => compiled?.remove())

describe('the crash matrix', () => {
  it('property 1: moves the value of every accepted transfer once, or fails it and moves nothing', async () => {
    const results = await runMatrix({ ...settings(), runs, points: matrixPoints })
    expect(defectsIn(results)).toEqual([])
    expect(results).toHaveLength(runs)
    const sum = (of: (result: RunResult) => number) =>
      results.reduce((total, result) => total + of(result), 0)
    console.info(
      `${runs} runs: ${sum(({ accepted }) => accepted)} transfers, ${sum(({ reached }) => reached)} points reached, ` +
        `${sum(({ deaths }) => deaths)} deaths, ${sum(({ freezes }) => freezes)} freezes`,
    )
    // Otherwise nothing was proven: most of the points that exist have to be come to.
    expect(sum(({ reached }) => reached)).toBeGreaterThan(runs / 4)
    expect(sum(({ deaths }) => deaths)).toBeGreaterThan(0)
  }, 900_000)

  it('property 33: moves each value once although workers stand still for three leases and go on', async () => {
    const points = ['P6', 'P7', 'P8', 'P10', 'P12', 'P13', 'P14', 'P16'] as const
    const frozen = await runMatrix({ ...settings(), runs: points.length, points, action: 'stop' })
    expect(defectsIn(frozen)).toEqual([])
    expect(frozen.reduce((total, { freezes }) => total + freezes, 0)).toBeGreaterThan(points.length / 2)
  }, 600_000)

  it('tells of a worker that ended by itself, which nobody replaces', async () => {
    const ending = 'data:text/javascript,setTimeout(() => process.exit(3), 5_000)'
    const { args, cwd } = compiled.command
    const command = { args: ['--import', ending, ...args], ...(cwd && { cwd }) }
    const [result] = await runMatrix({ ...settings(), command, runs: 1, points: ['P23'] })
    expect(result!.defects.join()).toMatch(/worker \d+ (ended by itself|is dead)/)
  }, 60_000)

  it('plans the same for the same seed', () => {
    expect(scheduleOf(7, 'P8')).toEqual(scheduleOf(7, 'P8'))
    expect(scheduleOf(8, 'P8')).not.toEqual(scheduleOf(7, 'P8'))
  })
})

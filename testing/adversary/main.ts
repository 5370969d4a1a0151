/** `npm run test:adversary`: the crash matrix at any size, reproducible by its seed. */
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Failpoint, failpoints } from '#runtime/scheduling/failpoints'
import { compilePrograms } from '#testing/processes/compile-programs'
import { startRunServer } from '#testing/runner/run-server'
import { runMatrix } from './matrix.ts'
import type { RunResult } from './run.ts'
import { matrixPoints } from './schedule.ts'

const help = `Kills and freezes workers at failpoints, orphans blocks, empties the pool; then compares with the chain.

npm run test:adversary -- [options]

  --runs N       how many runs (default 100)
  --seed N       seed of the first run; the next ones count up (default: a random one, printed)
  --points A,B   failpoints, taking turns (default: all marked *)
  --action A     kill or stop (freeze for three leases) at the point (default: the seed decides)
  --jobs N       runs at once (default: two for each core)
  --help         this text

Failpoints:
${Object.entries(failpoints)
  .map(([point, { about }]) => `  ${isReached(point) ? '*' : ' '} ${point.padEnd(26)} ${about}`)
  .join('\n')}
`

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
    points: { type: 'string', default: matrixPoints.join(',') },
    action: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(2 * availableParallelism()) },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}

const numberOf = (name: 'runs' | 'seed' | 'jobs') => {
  if (/^\d{1,10}$/.test(values[name])) return Number(values[name])
  process.stderr.write(`--${name} must be a whole number\n`)
  process.exit(2)
}
const points = values.points.split(',').map((point) => point.trim())
const unknown = points.filter((point) => !isReached(point))
if (unknown.length > 0) {
  process.stderr.write(`no run reaches ${unknown.join(', ')}; see --help\n`)
  process.exit(2)
}

const action = values.action === 'kill' || values.action === 'stop' ? values.action : undefined
if (values.action !== '' && !action) {
  process.stderr.write('--action must be kill or stop\n')
  process.exit(2)
}
const [runs, seed, jobs] = [numberOf('runs'), numberOf('seed'), numberOf('jobs')]
const startedMs = performance.now()
const seconds = () => ((performance.now() - startedMs) / 1000).toFixed(0)
process.stdout.write(`${runs} runs from seed ${seed}, ${jobs} at once, ${availableParallelism()} cores\n`)

const underWay = new Map<number, Pick<RunResult, 'seed' | 'point'>>()
// Lists the runs under way when interrupted; the workers end with their standard input.
process.once('SIGTERM', () => {
  for (const run of underWay.values()) process.stdout.write(`under way: ${replayOf(run)}\n`)
  process.exit(143)
})

const server = await startRunServer()
const { worker } = await compilePrograms()
const results = await runMatrix({
  runServer: server.url,
  seed,
  runs,
  points: points.filter(isReached),
  action,
  jobs,
  workerArgs: [worker],
  onStart: (schedule) => void underWay.set(schedule.seed, schedule),
  onResult: (result, done) => {
    underWay.delete(result.seed)
    for (const defect of result.defects) process.stdout.write(`seed ${result.seed}: ${defect}\n`)
    if (result.defects.length > 0) process.stdout.write(`replay: ${replayOf(result)}\n`)
    if (done % Math.max(1, Math.floor(runs / 50)) === 0 || done === runs)
      process.stdout.write(`${done}/${runs} runs, ${seconds()} s\n`)
  },
}).finally(() => server.stop())
report(results)
process.exit(results.some(({ defects }) => defects.length > 0) ? 1 : 0)

/** Whether a run of the matrix can reach the failpoint. */
function isReached(point: string): point is Failpoint {
  return matrixPoints.some((known) => known === point)
}

function replayOf({ seed, point }: Pick<RunResult, 'seed' | 'point'>): string {
  return `npm run test:adversary -- --runs 1 --seed ${seed} --points ${point}${action ? ` --action ${action}` : ''}`
}

function report(all: readonly RunResult[]): void {
  process.stdout.write(
    `\n${lineOf(['failpoint', 'runs', 'reached', 'killed', 'frozen', 'transfers', 'x402 settled', 'ended within', 'defects'])}\n`,
  )
  for (const point of points) {
    const mine = all.filter((result) => result.point === point)
    const sum = (of: (result: RunResult) => number) => mine.reduce((total, result) => total + of(result), 0)
    const slowestS = Math.max(0, ...mine.map(({ settledMs }) => settledMs / 1000)).toFixed(1)
    const cells = [
      point,
      mine.length,
      sum(({ reached }) => Math.min(1, reached)),
      sum(({ deaths }) => deaths),
      sum(({ freezes }) => freezes),
      sum(({ accepted }) => accepted),
      `${sum(({ delivered }) => delivered)} of ${sum(({ payments }) => payments)}`,
      `${slowestS} s`,
      sum(({ defects }) => defects.length),
    ]
    process.stdout.write(`${lineOf(cells)}\n`)
  }
  const failed = all.filter(({ defects }) => defects.length > 0)
  process.stdout.write(`\n${all.length} runs in ${seconds()} s, ${failed.length} with defects\n`)
  for (const result of failed) process.stdout.write(`  ${replayOf(result)}\n`)
}

function lineOf([name, ...figures]: readonly (string | number)[]): string {
  return [String(name).padEnd(28), ...figures.map((figure) => String(figure).padEnd(13))].join('')
}

/** `npm run mutants`: inserts bugs, one at a time, into copies of the sources, and expects the named test to detect each. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openCopy, type Verdict } from '#testing/mutants/copy'
import type { Mutant } from '#testing/mutants/mutant'
import { mutants } from '#testing/mutants/mutants'

const help = `Inserts one bug at a time into a copy of the sources; the test that is named for the bug must fail.

npm run mutants -- [options]

  --only NAMES   these bugs, with commas between
  --part K/N     every N-th bug, beginning with the K-th: all N parts together are a whole run
  --jobs N       bugs at once (default: half of the cores)
  --list         print the bugs and their tests, and run nothing
  --help         print this text

Prints a line for each bug, with the time left, and exits with 1 when one survived.
`

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    part: { type: 'string', default: '1/1' },
    jobs: { type: 'string', default: String(Math.ceil(availableParallelism() / 2)) },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}
const names = values.only.split(',').filter(Boolean)
const unknown = names.filter((name) => !mutants.some((mutant) => mutant.name === name))
const [part, parts] = /^[1-9]\d?\/[1-9]\d?$/.test(values.part) ? values.part.split('/').map(Number) : []
if (unknown.length > 0 || !/^[1-9]\d?$/.test(values.jobs) || !part || !parts || part > parts) {
  process.stderr.write(unknown.length > 0 ? `there is no mutant ${unknown.join(', ')}; see --list\n` : help)
  process.exit(2)
}
const chosen = mutants
  .filter(({ name }) => names.length === 0 || names.includes(name))
  .filter((_, index) => index % parts === part - 1)
if (values.list) {
  for (const mutant of chosen) process.stdout.write(`${rowOf(mutant)}\n`)
  process.exit(0)
}

type Outcome = Verdict & { mutant: Mutant }

const root = fileURLToPath(new URL('..', import.meta.url))
const interruption = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort())
const startedMs = performance.now()
const waiting = [...chosen]
const outcomes: Outcome[] = []
const jobs = Math.min(Number(values.jobs), chosen.length)
process.stdout.write(`${chosen.length} bugs, ${jobs} at once\n`)
await Promise.all(Array.from({ length: jobs }, runWaiting))
const survivors = outcomes.filter(({ killed }) => !killed)
process.stdout.write(
  `\n${outcomes.length - survivors.length} of ${outcomes.length} bugs were detected, in ${minutesOf(performance.now() - startedMs)}\n`,
)
for (const { mutant, reason } of survivors)
  process.stdout.write(
    `  SURVIVED ${mutant.name}: ${reason}; again: npm run mutants -- --only ${mutant.name}\n`,
  )
process.exit(survivors.length > 0 || interruption.signal.aborted ? 1 : 0)

async function runWaiting(): Promise<void> {
  const copy = openCopy(root)
  try {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const mutantMs = performance.now()
      const outcome = { mutant, ...(await copy.run(mutant, interruption.signal)) }
      if (interruption.signal.aborted) return
      outcomes.push(outcome)
      printProgress(outcome, performance.now() - mutantMs)
    }
  } finally {
    copy.remove()
  }
}

function printProgress({ mutant, killed, reason }: Outcome, tookMs: number): void {
  const leftMs = ((performance.now() - startedMs) / outcomes.length) * (chosen.length - outcomes.length)
  const progress = `${outcomes.length}/${chosen.length}, ${minutesOf(leftMs)} left`
  const verdict = killed ? 'killed  ' : 'SURVIVED'
  process.stdout.write(
    `${progress}: ${verdict} ${rowOf(mutant)} (${(tookMs / 1000).toFixed(0)} s)${reason && ` ${reason}`}\n`,
  )
}

function minutesOf(ms: number): string {
  return `${(ms / 60_000).toFixed(1)} min`
}

function rowOf({ name, about, test }: Mutant): string {
  return `${name.padEnd(26)} ${about.padEnd(72)} ${test.title} · ${test.file}`
}

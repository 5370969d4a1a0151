/** `npm run mutants`: inserts bugs, one at a time, into copies of the sources, and expects the named test to detect each. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openCopy, type Verdict } from '../testing/mutants/copy.ts'
import type { Mutant } from '../testing/mutants/mutant.ts'
import { mutants } from '../testing/mutants/mutants.ts'

const help = `Puts one bug at a time into a copy of the sources; the test that is named for it must fail.

npm run mutants -- [options]

  --only NAME    one of them, or several with commas between
  --part K/N     every N-th of them, beginning with the K-th: all N parts together are a whole run
  --jobs N       how many at once (default: half of the cores)
  --list         what there is, without running anything
  --help         this text
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
const startedMs = performance.now()
const left = [...chosen]
const outcomes: Outcome[] = []
const work = async () => {
  const copy = openCopy(root)
  try {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const mutantMs = performance.now()
      const outcome = { mutant, ...(await copy.tryOne(mutant)) }
      outcomes.push(outcome)
      tell(outcome, performance.now() - mutantMs)
    }
  } finally {
    copy.remove()
  }
}
await Promise.all(Array.from({ length: Math.min(Number(values.jobs), chosen.length) }, work))
const survivors = outcomes.filter(({ killed }) => !killed)
process.stdout.write(
  `\n${outcomes.length - survivors.length} of ${outcomes.length} bugs were noticed, in ${secondsOf(performance.now() - startedMs)}\n`,
)
for (const { mutant, words } of survivors)
  process.stdout.write(
    `  SURVIVED ${mutant.name}: ${words}; again: npm run mutants -- --only ${mutant.name}\n`,
  )
process.exit(survivors.length > 0 ? 1 : 0)

function tell({ mutant, killed, words }: Outcome, tookMs: number): void {
  const said = killed ? 'killed  ' : 'SURVIVED'
  process.stdout.write(
    `${outcomes.length}/${chosen.length} ${said} ${rowOf(mutant)} (${secondsOf(tookMs)})${words && ` ${words}`}\n`,
  )
}

function secondsOf(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`
}

function rowOf({ name, about, test }: Mutant): string {
  return `${name.padEnd(26)} ${about.padEnd(72)} ${test.title} · ${test.file}`
}

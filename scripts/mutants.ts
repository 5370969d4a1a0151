/** `npm run mutants`: puts bugs in, one at a time, in a copy of the sources, and expects the named test to notice each. */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Mutant, mutants } from '../testing/mutants/mutants.ts'

const help = `Puts one bug at a time into a copy of the sources; the test that is named for it must fail.

npm run mutants -- [options]

  --only NAME    one of them, or several with commas between
  --jobs N       how many at once (default 2)
  --list         what there is, without running anything
  --help         this text
`

const leftOut = new Set(['node_modules', '.git', 'dist', 'coverage', '.bezant'])

type Outcome = { mutant: Mutant; killed: boolean; words: string; tookS: number }

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' },
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
if (unknown.length > 0 || !/^[1-9]\d?$/.test(values.jobs)) {
  process.stderr.write(unknown.length > 0 ? `there is no mutant ${unknown.join(', ')}; see --list\n` : help)
  process.exit(2)
}
const chosen = mutants.filter(({ name }) => names.length === 0 || names.includes(name))
if (values.list) {
  for (const mutant of chosen) process.stdout.write(`${rowOf(mutant)}\n`)
  process.exit(0)
}

const root = fileURLToPath(new URL('..', import.meta.url))
const left = [...chosen]
const outcomes: Outcome[] = []
const work = async () => {
  for (let mutant = left.shift(); mutant; mutant = left.shift()) {
    const outcome = await tryOne(mutant)
    outcomes.push(outcome)
    process.stdout.write(
      `${outcomes.length}/${chosen.length} ${outcome.killed ? 'killed  ' : 'SURVIVED'} ${rowOf(mutant)} ` +
        `(${outcome.tookS.toFixed(0)} s)${outcome.killed ? '' : ` ${outcome.words}`}\n`,
    )
  }
}
await Promise.all(Array.from({ length: Number(values.jobs) }, work))
const survivors = outcomes.filter(({ killed }) => !killed)
process.stdout.write(`\n${outcomes.length - survivors.length} of ${outcomes.length} bugs were noticed\n`)
process.exit(survivors.length > 0 ? 1 : 0)

function rowOf({ name, about, test }: Mutant): string {
  return `${name.padEnd(26)} ${about.padEnd(72)} ${test.title} · ${test.file}`
}

async function tryOne(mutant: Mutant): Promise<Outcome> {
  const startedMs = performance.now()
  const directory = mkdtempSync(join(tmpdir(), 'bezant-mutant-'))
  const end = (killed: boolean, words: string): Outcome => ({
    mutant,
    killed,
    words,
    tookS: (performance.now() - startedMs) / 1000,
  })
  try {
    copySources(directory)
    for (const { file, from, to } of mutant.edits) {
      const text = readFileSync(join(directory, file), 'utf8')
      if (text.split(from).length !== 2) return end(false, `does not apply: ${file} has changed`)
      writeFileSync(
        join(directory, file),
        text.replace(from, () => to),
      )
    }
    return end(...(await runTest(directory, mutant)))
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

function copySources(directory: string): void {
  for (const name of readdirSync(root))
    if (!leftOut.has(name)) cpSync(join(root, name), join(directory, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
}

type Report = {
  testResults: { message: string; assertionResults: { title: string; fullName: string; status: string }[] }[]
}

/** Whether the test that was named failed; one that could not even be loaded has noticed nothing. */
async function runTest(directory: string, { test }: Mutant): Promise<[boolean, string]> {
  const report = join(directory, 'mutant-report.json')
  const title = test.title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const args = ['--no-install', 'vitest', 'run', test.file, '-t', title]
  args.push('--bail=1', '--reporter=json', `--outputFile=${report}`)
  const child = spawn('npx', args, { cwd: directory, stdio: 'ignore', env: { ...process.env, CI: '' } })
  await new Promise((resolve) => child.once('exit', resolve))
  let found: Report
  try {
    found = JSON.parse(readFileSync(report, 'utf8')) as Report
  } catch {
    return [false, 'the test could not be run']
  }
  const asked = found.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ fullName }) => fullName.includes(test.title)),
  )
  if (asked.some(({ status }) => status === 'failed')) return [true, '']
  if (asked.some(({ status }) => status === 'passed')) return [false, 'the test passes all the same']
  return [
    false,
    `the test did not run: ${found.testResults
      .map(({ message }) => message)
      .join(' ')
      .slice(0, 300)}`,
  ]
}

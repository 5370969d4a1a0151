import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { placesOf } from './tokens.ts'

/** `reason` is the message of the failed test, or why the bug survived. */
export type Verdict = { killed: boolean; reason: string }

/** A copy of the sources in a temporary directory. Each bug is removed after its test. */
export type Copy = { run(mutant: Mutant, signal: AbortSignal): Promise<Verdict>; remove(): void }

const leftOut = new Set(['node_modules', '.git', 'dist', 'coverage', '.bezant'])

export function openCopy(root: string): Copy {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-mutant-'))
  for (const name of readdirSync(root))
    if (!leftOut.has(name)) cpSync(join(root, name), join(directory, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return {
    run: async (mutant, signal) => {
      const original = new Map(
        mutant.edits.map(({ file }) => [file, readFileSync(join(directory, file), 'utf8')]),
      )
      try {
        for (const { file, from, to } of mutant.edits) {
          const text = readFileSync(join(directory, file), 'utf8')
          const [place, ...others] = placesOf({ path: file, text }, from)
          if (!place || others.length > 0) return survived(`does not apply: ${file} has changed`)
          writeFileSync(join(directory, file), text.slice(0, place.start) + to + text.slice(place.end))
        }
        return await runTest(directory, mutant, signal)
      } finally {
        for (const [file, text] of original) writeFileSync(join(directory, file), text)
      }
    },
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  }
}

const survived = (reason: string): Verdict => ({ killed: false, reason })

type Report = {
  testResults: {
    message: string
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[]
  }[]
}

/** Runs the test of a bug. A test that could not be loaded has not detected the bug. */
async function runTest(directory: string, { test }: Mutant, signal: AbortSignal): Promise<Verdict> {
  const path = join(directory, 'mutant-report.json')
  rmSync(path, { force: true })
  const title = test.title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const args = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', test.file, '-t', title]
  // These limits end a test that a bug makes wait for ever.
  args.push('--bail=1', '--testTimeout=180000', '--reporter=json', `--outputFile=${path}`)
  const limits = { TEST_PATIENCE_MS: '60000', TEST_DRAWS: 'all' }
  // The folder of packages is that of the repository, which would keep what was compiled of each copy.
  const env = { ...process.env, ...limits, COMPILED_MODULES: join(directory, 'compiled') }
  const child = spawn(process.execPath, args, { cwd: directory, stdio: 'ignore', env, signal })
  child.on('error', () => undefined)
  await new Promise((resolve) => child.once('exit', resolve))
  const report = readReport(path)
  if (!report) return survived('the test could not be run')
  const named = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ fullName }) => fullName.includes(test.title)),
  )
  const failure = named.find(({ status }) => status === 'failed')
  if (failure)
    return { killed: true, reason: failure.failureMessages?.[0]?.split('\n')[0]?.slice(0, 200) ?? '' }
  if (named.some(({ status }) => status === 'passed')) return survived('the test passes')
  const messages = report.testResults.map(({ message }) => message).join(' ')
  return survived(`the test did not run: ${messages.slice(0, 300)}`)
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return undefined
  }
}

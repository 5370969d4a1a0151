import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'

/** `words` say why the test failed, or why the bug survived. */
export type Verdict = { killed: boolean; words: string }

/** The sources in a directory of their own, sound before and after each bug. */
export type Copy = { tryOne(mutant: Mutant): Promise<Verdict>; remove(): void }

const leftOut = new Set(['node_modules', '.git', 'dist', 'coverage', '.bezant'])

export function openCopy(root: string): Copy {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-mutant-'))
  for (const name of readdirSync(root))
    if (!leftOut.has(name)) cpSync(join(root, name), join(directory, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return {
    tryOne: async (mutant) => {
      const sound = new Map(
        mutant.edits.map(({ file }) => [file, readFileSync(join(directory, file), 'utf8')]),
      )
      try {
        for (const { file, from, to } of mutant.edits) {
          const text = readFileSync(join(directory, file), 'utf8')
          if (text.split(from).length !== 2) return survived(`does not apply: ${file} has changed`)
          const changed = text.replace(from, () => to)
          writeFileSync(join(directory, file), changed)
        }
        return await runTest(directory, mutant)
      } finally {
        for (const [file, text] of sound) writeFileSync(join(directory, file), text)
      }
    },
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  }
}

const survived = (words: string): Verdict => ({ killed: false, words })

type Report = {
  testResults: {
    message: string
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[]
  }[]
}

/** Whether the test that was named failed; one that could not even be loaded has noticed nothing. */
async function runTest(directory: string, { test }: Mutant): Promise<Verdict> {
  const path = join(directory, 'mutant-report.json')
  rmSync(path, { force: true })
  const title = test.title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const args = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', test.file, '-t', title]
  // A bug that makes a test wait for ever is noticed by the end of its patience, or of its time.
  args.push('--bail=1', '--testTimeout=180000', '--reporter=json', `--outputFile=${path}`)
  const env = { ...process.env, TEST_PATIENCE_MS: '60000' }
  const child = spawn(process.execPath, args, { cwd: directory, stdio: 'ignore', env })
  await new Promise((resolve) => child.once('exit', resolve))
  const report = readReport(path)
  if (!report) return survived('the test could not be run')
  const asked = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ fullName }) => fullName.includes(test.title)),
  )
  const failed = asked.find(({ status }) => status === 'failed')
  if (failed) return { killed: true, words: failed.failureMessages?.[0]?.split('\n')[0]?.slice(0, 200) ?? '' }
  if (asked.some(({ status }) => status === 'passed')) return survived('the test passes all the same')
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

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawnFiles } from '#testing/runner/drawn-files'
import type { Rule } from './repository.ts'

const tests = /^(src|testing|contracts|scripts)\/.*\.test\.ts$/

const forbidden: { pattern: RegExp; reason: string }[] = [
  {
    pattern: /expect\(.*(performance|Date)\.now\(\).*toBeLess/,
    reason: 'asserts how long something took: assert its cause, or measure it in bench/',
  },
  {
    pattern: /Number\(process\.env\['(?!\w*SEED')/,
    reason: 'reads a size from the environment: sizeOf of testing/runner/size.ts gives both sizes',
  },
  { pattern: /stdio.*'inherit'/, reason: 'prints while it passes: pipe the output of a process' },
]

export const testRule: Rule = {
  name: 'tests prove the same on any machine',
  why: 'A busy machine makes a test slower, not red; a passing run prints nothing; each test runs at both sizes.',
  check: (repository) =>
    repository
      .matching(tests)
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, index) =>
          forbidden
            .filter(({ pattern }) => pattern.test(line))
            .map(({ reason }) => `${path}:${index + 1} ${reason}`),
        ),
      ),
}

const continuous = '.ci/run'

const drawsCases = /from '.*\/drawn\.ts'/

export const drawnFileRule: Rule = {
  name: 'a file that draws some of its cases is a drawn file',
  why: '`npm run test:drawn` runs all cases of the files in testing/runner/drawn-files.ts, and of no others.',
  check: (repository) =>
    repository
      .matching(tests)
      .filter(({ path, lines }) => lines.some((line) => drawsCases.test(line)) && !drawnFiles.includes(path))
      .map(({ path }) => `${path} draws cases and is not in testing/runner/drawn-files.ts`),
}

export const drawRule: Rule = {
  name: 'the checks of changes run every test file',
  why: `A run of the suite leaves out some of testing/runner/drawn-files.ts, and ${continuous} draws from all: by name, or by a folder.`,
  check: ({ root }) => {
    const named = readFileSync(join(root, continuous), 'utf8').split(/\s+/)
    return drawnFiles
      .filter((file) => !named.some((each) => file === each || file.startsWith(`${each}/`)))
      .map((file) => `${continuous} does not name ${file}`)
  },
}

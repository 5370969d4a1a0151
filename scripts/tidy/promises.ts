import { mutants } from '#testing/mutants/mutants'
import { placesOf } from '#testing/mutants/tokens'
import type { Repository, Rule } from './repository.ts'
import { hasTests } from './words.ts'

const page = 'docs/reliability.md'

/** Property numbers in the names of tests, by file. */
function provenIn(repository: Repository): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>()
  const files = repository.matching(/^(src|testing|contracts)\/.*\.ts$/).filter(({ path }) => hasTests(path))
  for (const { path, text } of files)
    for (const [, number] of text.matchAll(/['"`]property (\d+):/g))
      found.set(Number(number), (found.get(Number(number)) ?? new Set()).add(path))
  return found
}

/** The sections of the page by the number in their heading, in the order of the page. */
const sectionsOf = (text: string) =>
  text.split(/^(?=##)/m).flatMap((section) => {
    const number = /^### (\d+)\. /.exec(section)?.[1]
    return number ? [[Number(number), section] as const] : []
  })

export const promiseRule: Rule = {
  name: 'what is promised is proven',
  why: `${page} names a test for each property, and every test that proves one is in it.`,
  check: (repository) => {
    const numbered = sectionsOf(repository.files.find(({ path }) => path === page)?.text ?? '')
    const sections = new Map(numbered)
    const misplaced = numbered.filter(([number], index) => index > 0 && number <= numbered[index - 1]![0])
    const proven = provenIn(repository)
    const unlisted = [...proven].flatMap(([number, files]) => {
      const missing = [...files].filter((file) => !sections.get(number)?.includes(`\`${file}\``))
      return missing.map((file) => `${page} does not name ${file} for property ${number}`)
    })
    const unproven = [...sections].flatMap(([number, section]) =>
      [...section.matchAll(/`([\w./-]+\.ts)`/g)]
        .filter(([, file]) => hasTests(file!) && !proven.get(number)?.has(file!))
        .map(([, file]) => `${page} names ${file} for property ${number}, which has no test of that name`)
        .concat(proven.has(number) ? [] : [`${page} lists property ${number}, which no test proves`]),
    )
    return [
      ...unlisted,
      ...unproven,
      ...misplaced.map(
        ([number]) => `${page} lists property ${number} twice, or not in the order of numbers`,
      ),
    ]
  },
}

/** Finds failpoints that no code reaches: they would never fail a test. */
export const failpointRule: Rule = {
  name: 'every failpoint is placed',
  why: 'A failpoint that no code reaches proves nothing.',
  check: (repository) => {
    const list =
      repository.files.find(({ path }) => path === 'src/runtime/scheduling/failpoints.ts')?.text ?? ''
    const code = repository.matching(/^src\/.*\.ts$/).map(({ text }) => text)
    return [...list.matchAll(/^ {2}'([a-z-]+)': \{/gm)].flatMap(([, point]) =>
      code.some((text) => text.includes(`failpoint('${point}')`)) ? [] : [`nothing reaches ${point}`],
    )
  },
}

export const mutantRule: Rule = {
  name: 'seeded bugs still apply',
  why: 'testing/mutants quotes code that must be in its file exactly once, and tests that exist.',
  check: (repository) => {
    const fileOf = (path: string) => repository.files.find((file) => file.path === path) ?? { path, text: '' }
    return mutants.flatMap(({ name, edits, test }) => [
      ...edits
        .filter(({ file, from }) => placesOf(fileOf(file), from).length !== 1)
        .map(({ file, from }) => `${name}: ${file} does not have exactly one: ${from}`),
      ...(fileOf(test.suite ?? test.file).text.includes(test.title)
        ? []
        : [`${name}: no test "${test.title}" in ${test.suite ?? test.file}`]),
    ])
  },
}

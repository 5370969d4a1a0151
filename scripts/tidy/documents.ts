import { dirname, join, normalize } from 'node:path'
import { anchorOf } from '#runtime/http/docs/guides'
import { openMetrics } from '#runtime/telemetry/metrics'
import type { Repository, Rule, SourceFile } from './repository.ts'

export const docPathRule: Rule = {
  name: 'paths in documents exist',
  why: 'A recipe that names a file which is gone is worse than none.',
  check: (repository) =>
    repository.matching(/\.md$/).flatMap((file) => [
      ...[
        ...file.text.matchAll(
          /`((?:src|migrations|testing|scripts|bench|examples|contracts|console|page|docs)\/[\w./-]*\w)`/g,
        ),
      ]
        .filter(([, path]) => !repository.exists(path!))
        .map(([, path]) => `${file.path} names ${path}`),
      ...linksOf(file)
        .filter((path) => !repository.exists(path))
        .map((path) => `${file.path} links ${path}`),
    ]),
}

export const packagedLinkRule: Rule = {
  name: 'packaged documents link to what is packaged',
  why: 'Who has installed the package reads its documents without the repository.',
  check: (repository) => {
    const manifest = repository.files.find(({ path }) => path === 'package.json')!
    const { files } = JSON.parse(manifest.text) as { files: string[] }
    const isPackaged = (path: string) =>
      path === 'README.md' || files.some((each) => path === each || path.startsWith(`${each}/`))
    return repository
      .matching(/\.md$/)
      .filter(({ path }) => isPackaged(path))
      .flatMap((file) =>
        linksOf(file)
          .filter((path) => !isPackaged(path))
          .map((path) => `${file.path} links ${path}`),
      )
  },
}

/** The files of the repository that a document links to. */
const linksOf = (file: SourceFile): string[] =>
  [...file.text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path]) =>
    normalize(join(dirname(file.path), path!)),
  )

export const anchorRule: Rule = {
  name: 'sections that documents link to exist',
  why: 'A link into a section that was renamed leads to the top of a page.',
  check: (repository) =>
    repository
      .matching(/\.md$/)
      .flatMap((file) =>
        [...file.text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
          .filter(([, path, anchor]) => !anchorsOf(repository, file, path!).includes(anchor!))
          .map(([, path, anchor]) => `${file.path} links ${path}#${anchor}`),
      ),
}

/** The anchors of the headings of the document that `path` names, as the server and other renderers of Markdown generate them. */
function anchorsOf({ files }: Repository, from: SourceFile, path: string): string[] {
  const target = path === '' ? from.path : normalize(join(dirname(from.path), path))
  const text = files.find((file) => file.path === target)?.text ?? ''
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!))
}

export const settingRule: Rule = {
  name: 'settings are documented, and nothing else is',
  why: 'A setting in no document is not found; one that a document names and nobody reads has no effect.',
  check: (repository) => {
    const setting = /\bBEZANT_[A-Z_]*[A-Z]\b/g
    const read = matchesIn(
      repository,
      /^(src\/runtime\/config\.ts|examples\/.*\.mjs|testing\/runner\/run-server\.ts)$/,
      setting,
    )
    const documented = matchesIn(repository, /\.md$/, setting)
    // Each setting can be given as a file too, under its name with _FILE.
    const named = [...documented].map((name) => (read.has(name) ? name : name.replace(/_FILE$/, '')))
    return differences(read, new Set(named))
  },
}

export const metricRule: Rule = {
  name: 'metrics are documented',
  why: 'An operator can only read a figure that is explained.',
  check: (repository) => {
    const { registry } = openMetrics()
    const names = registry.getMetricsAsArray().map(({ name }) => name)
    const documented = matchesIn(
      repository,
      /^docs\/operate\.md$/,
      /(?<=^\| `)(?:bezant|process|nodejs)_\w+(?=` \|)/gm,
    )
    return differences(new Set(names), documented)
  },
}

export const matchesIn = (repository: Repository, paths: RegExp, pattern: RegExp) =>
  new Set(repository.matching(paths).flatMap(({ text }) => [...text.matchAll(pattern)].map(([name]) => name)))

export const differences = (real: ReadonlySet<string>, documented: ReadonlySet<string>) => [
  ...[...real].filter((name) => !documented.has(name)).map((name) => `${name} is in no document`),
  ...[...documented]
    .filter((name) => !real.has(name))
    .map((name) => `${name} is documented and is not there`),
]

const guideList = 'docs/README.md'

export const guideRule: Rule = {
  name: 'documents are listed once',
  why: `The list in ${guideList} is the side bar of every page.`,
  check: (repository) => {
    const list = repository.files.find(({ path }) => path === guideList)?.text ?? ''
    const listed = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path]) => `docs/${path}`)
    return repository
      .matching(/^docs\/(?!README\.md|decisions\/\d).*\.md$/)
      .map(({ path }) => ({ path, times: listed.filter((each) => each === path).length }))
      .filter(({ times }) => times !== 1)
      .map(({ path, times }) => `${guideList} lists ${path} ${times} times`)
  },
}

const decisionList = 'docs/decisions/README.md'

export const decisionRule: Rule = {
  name: 'decisions are listed once, in order',
  why: 'A reader looks for a record by its number.',
  check: (repository) => {
    const list = repository.files.find(({ path }) => path === decisionList)?.text ?? ''
    const listed = [...list.matchAll(/^(\d+)\. \[[^\]]+\]\((\d{4}-[\w-]+\.md)\)/gm)]
    const paths = new Set(listed.map(([, , file]) => `docs/decisions/${file}`))
    const disordered = listed.filter(
      ([, number], index) => Number(number) <= Number(listed[index - 1]?.[1] ?? 0),
    )
    return [
      ...repository
        .matching(/^docs\/decisions\/\d{4}-.*\.md$/)
        .filter(({ path }) => !paths.has(path))
        .map(({ path }) => `${decisionList} does not list ${path}`),
      ...listed
        .filter(([, number, file]) => Number(number) !== Number(file!.slice(0, 4)))
        .map(([, number, file]) => `${decisionList} lists ${file} as ${number}`),
      ...disordered.map(([, number]) => `${decisionList} lists ${number} after a number that is not lower`),
    ]
  },
}

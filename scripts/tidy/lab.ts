import { importsOf, type Repository, type Rule, type SourceFile } from './repository.ts'

const servingFile = 'src/cli/serve.ts'
const labFile =
  /^src\/sandbox\/(start|lab|require-own-page)\.ts$|^src\/sandbox\/(clock|catcher|chain-control|snapshots|faults|listeners|triggers)\//

export const absentLabRule: Rule = {
  name: 'a server in production has no lab',
  why: 'What moves time, chains and messages is absent from serve, worker and attest, not hidden: they import none of it.',
  check: (repository) =>
    [...importedBy(repository, servingFile)]
      .filter(([path]) => labFile.test(path))
      .map(([path, by]) => `${by} imports ${path}, and ${servingFile} reaches it`),
}

/** Every file that a file imports, directly or not, with one that imports it. */
function importedBy({ files }: Repository, start: string): Map<string, string> {
  const byPath = new Map(files.map((file): [string, SourceFile] => [file.path, file]))
  const found = new Map<string, string>()
  const waiting = [start]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const file = byPath.get(path)
    for (const { target } of file ? importsOf(file) : []) {
      if (found.has(target) || !byPath.has(target)) continue
      found.set(target, path)
      waiting.push(target)
    }
  }
  return found
}

import type { Repository, Rule, SourceFile } from './repository.ts'

const declaration = /^export (?:async )?(?:function\*?|const|let|class|type|interface|enum) (\w+)/gm
const reexport = /^export (?:type )?\{([^}]*)\} from/gms

/** Names that a file declares and exports. */
const declaredIn = ({ text }: SourceFile) => [...text.matchAll(declaration)].map(([, name]) => name!)

/** Names that the door of a folder passes on. */
const passedOnBy = ({ text }: SourceFile) =>
  [...text.matchAll(reexport)].flatMap(([, list]) =>
    list!.split(',').flatMap((part) =>
      part
        .trim()
        .replace(/^type /, '')
        .split(' as ')
        .slice(-1)
        .filter(Boolean),
    ),
  )

/** The files in which each word stands. */
function filesByWord(repository: Repository): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { path, text } of repository.matching(/\.(ts|js|mjs)$/))
    for (const word of new Set(text.match(/\w+/g))) {
      const paths = found.get(word)
      if (paths) paths.push(path)
      else found.set(word, [path])
    }
  return found
}

export const exportRule: Rule = {
  name: 'an export is used',
  why: 'A name that no other file takes is not exported, and a folder passes on only what files outside of it take.',
  check: (repository) => {
    const files = filesByWord(repository)
    // The generator of artifacts writes the same exports for each contract.
    const sources = repository.matching(/^src\/(?!.*\/artifacts\/).*(?<!\.test)\.ts$/)
    const isUsed = (name: string, isElsewhere: (path: string) => boolean) =>
      files.get(name)!.some(isElsewhere)
    return sources.flatMap((file) => {
      const folder = file.path.replace(/[^/]*$/, '')
      const unused = declaredIn(file).filter((name) => !isUsed(name, (path) => path !== file.path))
      const untaken = file.path.endsWith('/index.ts')
        ? passedOnBy(file).filter((name) => !isUsed(name, (path) => !path.startsWith(folder)))
        : []
      return [
        ...unused.map((name) => `${file.path} exports ${name}, which no other file takes`),
        ...untaken.map((name) => `${file.path} passes on ${name}, which no file outside of ${folder} takes`),
      ]
    })
  },
}

const doorMax = 40

export const doorRule: Rule = {
  name: 'a door is narrow',
  why: `A folder that passes on more than ${doorMax} names is no room of its own: split it.`,
  check: (repository) =>
    repository
      .matching(/^src\/(custody|identity|engines\/[a-z-]+)(\/[a-z-]+)?\/index\.ts$/)
      .flatMap((file) => {
        const width = passedOnBy(file).length + declaredIn(file).length
        return width > doorMax ? [`${file.path} passes on ${width} names`] : []
      }),
}

import ts from 'typescript'
import type { Repository, Rule, SourceFile } from './repository.ts'

const linesMax = 500
const functionLinesMax = 70
const generated =
  /^(src\/chains\/evm\/abi\/stablecoin\.ts|src\/(sandbox|api\/contracts\/templates)\/artifacts\/|testing\/artifacts\/)/

const handWritten = (repository: Repository) =>
  repository
    .matching(/^(src|testing|scripts|bench|examples|client|console|page|contracts)\/.*\.(ts|js|sol|css)$/)
    .filter(({ path }) => !generated.test(path))

/** Whether the file has tests: those of a suite are run by a file for each family. */
export const hasTests = (path: string) => /(\.test|^testing\/families\/suite\/[\w-]+)\.ts$/.test(path)

/** The files that the program consists of: without tests and generated files. */
export const programFiles = (repository: Repository) =>
  handWritten(repository).filter(({ path }) => /^src\/.*(?<!\.test)\.ts$/.test(path))

export const sizeRule: Rule = {
  name: 'files and functions stay small',
  why: `At most ${linesMax} lines a file and ${functionLinesMax} a function: a reader keeps one in the head.`,
  check: (repository) =>
    handWritten(repository).flatMap((file) => [
      ...(file.lines.length > linesMax ? [`${file.path} has ${file.lines.length} lines`] : []),
      ...(file.path.endsWith('.ts') && !hasTests(file.path) ? longFunctions(file) : []),
    ]),
}

function longFunctions(file: SourceFile): string[] {
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true)
  const found: string[] = []
  const visit = (node: ts.Node) => {
    if (
      ts.isFunctionDeclaration(node) ||
      ts.isArrowFunction(node) ||
      ts.isFunctionExpression(node) ||
      ts.isMethodDeclaration(node)
    ) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line
      const length = source.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1
      if (length > functionLinesMax) found.push(`${file.path}:${first + 1} a function of ${length} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const vagueName = /(^|\/)(utils?|helpers?|common|shared|managers?|services?)(\.|\/|-)/

export const nameRule: Rule = {
  name: 'names say what a thing is',
  why: 'utils, helpers, common, shared, manager and service say nothing and attract everything.',
  check: (repository) =>
    handWritten(repository)
      .filter(({ path }) => vagueName.test(path))
      .map(({ path }) => path),
}

const typeDeclaration = /^(?:export )?(?:type|interface) (\w+)/gm

export const typeNameRule: Rule = {
  name: 'a type name has one meaning',
  why: 'A reader who knows the name knows the type: give the less central one a name of its own, or import the other.',
  check: (repository) => {
    const files = new Map<string, string[]>()
    for (const { path, text } of programFiles(repository)) {
      for (const [, name] of text.matchAll(typeDeclaration))
        files.set(name!, [...(files.get(name!) ?? []), path])
    }
    return [...files]
      .filter(([, paths]) => paths.length > 1)
      .map(([name, paths]) => `${name} is declared in ${paths.join(', ')}`)
  },
}

const valueDeclaration = /^export (?:async )?(?:function\*?|const|let|class) (\w+)/gm

export const valueNameRule: Rule = {
  name: 'an exported value has a name of its own',
  why: 'A search for the name finds the thing: say of what it is, as createBusinessTransfer does beside createTransfer.',
  check: (repository) => {
    const files = new Map<string, string[]>()
    for (const { path, text } of programFiles(repository)) {
      if (path.includes('/artifacts/')) continue
      for (const [, name] of text.matchAll(valueDeclaration))
        files.set(name!, [...(files.get(name!) ?? []), path])
    }
    return [...files]
      .filter(([, paths]) => new Set(paths).size > 1)
      .map(([name, paths]) => `${name} is exported by ${paths.join(', ')}`)
  },
}

const spreadLiteral = /\.{3}\{/

export const spreadRule: Rule = {
  name: 'a spread adds another object',
  why: 'A spread of a literal is its fields with a detour: a reader looks for the reason and finds none.',
  check: (repository) =>
    handWritten(repository).flatMap((file) =>
      file.lines.flatMap((line, index) =>
        spreadLiteral.test(line) ? [`${file.path}:${index + 1} spreads a literal`] : [],
      ),
    ),
}

const reminder = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`)
const focused = /\b(it|test|describe)\.(only|skip|todo)\b/
const machinePath = /(^|[\s'"`(])\/(work|home|Users)\//

export const leftoverRule: Rule = {
  name: 'nothing is left over',
  why: 'A reminder is an issue, a skipped test is no test, a path of one machine helps nobody.',
  check: (repository) =>
    repository.files
      .filter(({ path }) => !/package-lock\.json$/.test(path))
      .flatMap((file) =>
        file.lines.flatMap((line, index) => {
          const reason = reminder.test(line)
            ? 'a reminder'
            : focused.test(line) && !file.path.startsWith('scripts/tidy')
              ? 'a focused or skipped test'
              : machinePath.test(line)
                ? 'a path of one machine'
                : undefined
          return reason ? [`${file.path}:${index + 1} ${reason}`] : []
        }),
      ),
}

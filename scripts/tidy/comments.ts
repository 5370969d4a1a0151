import ts from 'typescript'
import type { Rule, SourceFile } from './repository.ts'
import { programFiles } from './words.ts'

const persons = /\b(whoever|somebody|someone|nobody|everybody|everyone|anybody|anyone|he|him|his|she|her)\b/i
const subjectless = /^(?:\/\*\*[\s*]*|-- )(What|Whoever|Who|Those|So)\b/

export const commentRule: Rule = {
  name: 'comments name their subject',
  why: 'A reader asks who does it and what it is: name the program, the caller or the row, and begin with a noun or a verb.',
  check: (repository) =>
    [...programFiles(repository), ...repository.matching(/^migrations\/.*\.sql$/)].flatMap((file) =>
      (file.path.endsWith('.sql') ? blocksOf(file) : commentsOf(file)).flatMap(({ text, line }) => {
        const person = persons.exec(text)?.[0]
        const opening = subjectless.exec(text)?.[1]
        return [
          ...(person ? [`${file.path}:${line} speaks of "${person}"`] : []),
          ...(opening ? [`${file.path}:${line} begins with "${opening}"`] : []),
        ]
      }),
    ),
}

/** Every comment of a file with its first line number. Strings that look like comments do not count. */
function commentsOf(file: SourceFile): { text: string; line: number }[] {
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true)
  const found = new Map<number, { text: string; line: number }>()
  const visit = (node: ts.Node) => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(file.text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(file.text, node.end) ?? []),
    ]
    for (const { pos, end } of ranges)
      found.set(pos, {
        text: file.text.slice(pos, end),
        line: source.getLineAndCharacterOfPosition(pos).line + 1,
      })
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  return [...found.values()]
}

/** Every block of comment lines of SQL, without its indentation. */
const blocksOf = ({ text }: SourceFile): { text: string; line: number }[] =>
  [...text.matchAll(/^[^\S\n]*--.*(?:\n[^\S\n]*--.*)*/gm)].map(({ 0: block, index }) => ({
    text: block.trimStart(),
    line: text.slice(0, index).split('\n').length,
  }))

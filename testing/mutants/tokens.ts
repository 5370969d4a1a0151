import ts from 'typescript'

type SourceText = { path: string; text: string }

/** A place in a file: the index of its first character, and the one after its last. */
export type Place = { start: number; end: number }

/** A word or another single character. Whitespace, comments and trailing commas are no tokens. */
type Token = Place & { word: string }

/** Returns the places whose tokens equal those of `quote`, whatever their spacing, line breaks and comments. */
export function placesOf(file: SourceText, quote: string): Place[] {
  const tokens = tokensOf(file)
  const wanted = split(quote).filter(isNoTrailingComma)
  return tokens.flatMap(({ start }, first) => {
    const isHere = wanted.every(({ word }, offset) => tokens[first + offset]?.word === word)
    return isHere ? [{ start, end: tokens[first + wanted.length - 1]!.end }] : []
  })
}

const isNoTrailingComma = ({ word }: Token, index: number, all: readonly Token[]) =>
  word !== ',' || !/^[)\]}]$/.test(all[index + 1]?.word ?? '')

function tokensOf({ path, text }: SourceText): Token[] {
  const tokens = path.endsWith('.ts') ? typescriptTokens(path, text) : split(text.replace(/--.*/g, blank))
  return tokens.filter(isNoTrailingComma)
}

function typescriptTokens(path: string, text: string): Token[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
  const leavesOf = (node: ts.Node): ts.Node[] => {
    const children = node.getChildren(source).filter((child) => !ts.isJSDoc(child))
    return children.length > 0 ? children.flatMap(leavesOf) : [node]
  }
  return leavesOf(source).flatMap((leaf) => split(leaf.getText(source), leaf.getStart(source)))
}

/** Splits literals as well, so that a quote may begin or end in the middle of a query. */
const split = (text: string, from = 0): Token[] =>
  [...text.matchAll(/[\w$]+|[^\s\w$]/g)].map(({ 0: word, index }) => ({
    word,
    start: from + index,
    end: from + index + word.length,
  }))

const blank = (comment: string) => ' '.repeat(comment.length)

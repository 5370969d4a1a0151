import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { root } from '#testing/runner/root'

export type DocumentedCall = {
  /** The commands of a block, the last of which calls the API. */
  commands: string
  /** The answer that the document shows after it. */
  answer: unknown
}

/** The blocks of a document that call the API with curl, each with the JSON that is shown next under the same heading. */
export function documentedCalls(document: string): DocumentedCall[] {
  const text = readFileSync(join(root, document), 'utf8')
  const parts = [...text.matchAll(/^```(\w+)\n([\s\S]+?)^```$|^#+ .+$/gm)].map(([, kind, block]) => ({
    kind,
    block,
  }))
  return parts.flatMap(({ kind, block }, index) => {
    const next = parts[index + 1]
    if (kind !== 'sh' || !block!.includes('curl') || next?.kind !== 'json') return []
    return [{ commands: block!, answer: matcherOf(parseShown(next.block!)) }]
  })
}

const more = '…'

/** Parses JSON in which `…` may stand for further members of an object, or for further items of a list. */
function parseShown(text: string): unknown {
  const open: string[] = []
  let isText = false
  let json = ''
  for (const sign of text) {
    if (sign === '"') isText = !isText
    if (!isText && '{['.includes(sign)) open.push(sign)
    if (!isText && '}]'.includes(sign)) open.pop()
    const isLeftOut = !isText && sign === more
    json += !isLeftOut ? sign : open.at(-1) === '{' ? `"${more}":true` : `"${more}"`
  }
  return JSON.parse(json)
}

/** Matches what was shown: any characters in place of `…` in a text, which has no other special ones, and nothing besides what is shown without one. */
function matcherOf(shown: unknown): unknown {
  if (typeof shown === 'string' && shown.includes(more))
    return expect.stringMatching(new RegExp(`^${shown.replaceAll(more, '.+')}$`))
  if (Array.isArray(shown)) {
    const items = shown.filter((item) => item !== more).map(matcherOf)
    return items.length < shown.length ? expect.arrayContaining(items) : items
  }
  if (typeof shown !== 'object' || shown === null) return shown
  const { [more]: isOpen, ...members } = shown as Record<string, unknown>
  const matchers = Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, matcherOf(value)]),
  )
  return isOpen ? expect.objectContaining(matchers) : matchers
}

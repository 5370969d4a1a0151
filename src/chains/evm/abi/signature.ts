import { ValueProblem } from '../../invalid-value.ts'
import { type AbiType, isAtomic } from './types.ts'

type FunctionSignature = { name: string; parameters: AbiType[] }

const lengthMax = 2_000
const depthMax = 8
const parametersMax = 100

/** A parameter of an event; `indexed` and the name are absent from a signature of types alone. */
export type NamedType = AbiType & { name?: string; indexed?: boolean }

/** `named`: whether types may be followed by `indexed` and a name. */
type Reader = { text: string; at: number; read: number; named: boolean }

/**
 * Reads `name(type,…)` in its canonical form, tuples written as `(type,…)`. Nothing is mended: another spelling would
 * name another function. Throws ValueProblem at `abiFunctionSignature`.
 */
export const parseSignature = (text: string): FunctionSignature => parse(text, false)

/**
 * Reads the signature of an event, canonical or as Solidity declares it, with `indexed`, names and spaces. Throws ValueProblem
 * at `eventSignature`.
 */
export function parseEventSignature(text: string): { name: string; parameters: NamedType[] } {
  try {
    return parse(text.trim().replace(/^event\s+/, ''), true)
  } catch (error) {
    if (error instanceof ValueProblem) throw new ValueProblem('eventSignature', error.reason)
    throw error
  }
}

function parse(text: string, named: boolean): { name: string; parameters: NamedType[] } {
  if (text.length > lengthMax) throw problem(`is longer than ${lengthMax} characters`)
  const [name] = /^[A-Za-z_$][\w$]*(?=\()/.exec(text) ?? []
  if (name === undefined) throw problem('must be a name and its types, such as "transfer(address,uint256)"')
  const reader = { text, at: name.length, read: 0, named }
  const parameters = readTuple(reader, 1)
  if (reader.at < text.length)
    throw problem(`has something after its last bracket, at character ${reader.at}`)
  return { name, parameters }
}

/** From an opening bracket to the one that closes it. */
function readTuple(reader: Reader, depth: number): NamedType[] {
  if (depth > depthMax) throw problem(`nests deeper than ${depthMax} levels`)
  reader.at += 1
  const types: NamedType[] = []
  skip(reader, /^\s*/)
  if (depth === 1 && reader.text[reader.at] === ')') {
    reader.at += 1
    return types
  }
  for (;;) {
    skip(reader, /^\s*(tuple(?=\())?/)
    types.push({ ...readType(reader, depth), ...(reader.named && readWords(reader)) })
    const next = reader.text[reader.at]
    reader.at += 1
    if (next === ')') return types
    if (next !== ',') throw problem(`needs a comma or a closing bracket at character ${reader.at - 1}`)
  }
}

/** Skips spaces, which only signatures with names may have. */
function skip(reader: Reader, words: RegExp): void {
  if (reader.named) reader.at += words.exec(reader.text.slice(reader.at))![0].length
}

/** Reads the words after the type of a parameter: `indexed`, and a name. */
function readWords(reader: Reader): Pick<NamedType, 'name' | 'indexed'> {
  const words = /^(\s+indexed(?![\w$]))?(\s+[A-Za-z_$][\w$]{0,255})?\s*/.exec(reader.text.slice(reader.at))!
  reader.at += words[0].length
  return { ...(words[2] && { name: words[2].trim() }), ...(words[1] && { indexed: true }) }
}

function readType(reader: Reader, depth: number): AbiType {
  if (++reader.read > parametersMax) throw problem(`has more than ${parametersMax} types`)
  if (reader.text[reader.at] === '(') {
    const components = readTuple(reader, depth + 1)
    return { type: `tuple${readSuffix(reader, depth)}`, components }
  }
  const word = wordAt(reader)
  const type = reader.named && /^u?int$/.test(word) ? `${word}256` : word
  if (!isAtomic(type)) throw problem(unknownType(word, reader.at))
  reader.at += word.length
  return { type: type + readSuffix(reader, depth) }
}

const wordAt = ({ text, at, named }: Reader): string =>
  (named ? /^\w*/ : /^[^,()[\]]*/).exec(text.slice(at, at + 100))![0]

function unknownType(word: string, at: number): string {
  if (word === 'uint' || word === 'int') return `must write ${word} as ${word}256`
  if (/\s/.test(word)) return 'must have neither spaces nor parameter names: "transfer(address,uint256)"'
  if (word === 'tuple') return 'must write a tuple as its types in brackets, without "tuple"'
  return `has no known type at character ${at}`
}

function readSuffix(reader: Reader, depth: number): string {
  const [suffix] = /^(\[([1-9]\d{0,5})?\])*/.exec(reader.text.slice(reader.at))!
  if (depth + suffix.split('[').length - 1 > depthMax) throw problem(`nests deeper than ${depthMax} levels`)
  reader.at += suffix.length
  return suffix
}

const problem = (reason: string) => new ValueProblem('abiFunctionSignature', reason)

import { randomInt } from 'node:crypto'
import { type Document, isNode, Lexer, LineCounter, Parser, parseDocument } from 'yaml'
import { ApiError, type FieldError, invalid } from '#lib/errors'
import { nearest } from '#lib/suggest'
import { levelsMax } from '#runtime/http/bounds'
import { checkOf } from '#runtime/http/validate'
import { delayMs } from '../durations.ts'
import { lackedActs } from './lacked-acts.ts'
import {
  type FaultPlan,
  type FaultPoint,
  type FaultRule,
  planSchema,
  points,
  ruleSchema,
} from './plan-schema.ts'
import { unmetWords } from './unmet-words.ts'

const bytesMax = 65_536

const checkPlan = checkOf(planSchema, 'body')
const checks = new Map(
  Object.entries(points).map(([point, parts]) => [
    point,
    { match: checkOf(parts.match, 'body'), do: checkOf(parts.do, 'body') },
  ]),
)

/**
 * Reads a plan from YAML or JSON. A plan with a mistake is refused whole, with the place and the line of each, what was expected
 * there and the nearest known word. `blockchains` are the chains that run; without them words that nothing matches are taken too.
 */
export function readPlan(text: string, blockchains?: readonly string[]): FaultPlan {
  const { value, document, lines } = readText('plan', text)
  const problems = problemsOf(value, blockchains)
  if (problems.length === 0) return { seed: randomInt(2 ** 32), ...(value as Omit<FaultPlan, 'seed'>) }
  const fields = problems
    .map((problem) => placed(problem, document, lines))
    .sort((one, other) => one.line - other.line)
    .slice(0, 20)
    .map(({ line, field }) => ({ ...field, message: `line ${line}: ${field.message}` }))
  throw new ApiError(
    'invalidRequest',
    `The plan was refused, and nothing changed. ${fields.map(({ message }) => message).join('; ')}.`,
    fields,
  )
}

type ReadText = { value: unknown; document: Document; lines: LineCounter }

function readText(at: 'plan' | 'rule', text: string): ReadText {
  if (Buffer.byteLength(text) > bytesMax) throw invalid({ at, reason: `is larger than ${bytesMax} bytes` })
  if (isDeep(text)) throw invalid({ at, reason: `must not nest deeper than ${levelsMax} levels` })
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true })
  const [error] = document.errors
  if (error) {
    const { line } = lines.linePos(error.pos[0])
    throw invalid({
      at,
      reason: `is neither YAML nor JSON: line ${line}: ${error.message.split('\n')[0]!.replace(/:$/, '')}`,
    })
  }
  return { value: withoutAliases(at, document), document, lines }
}

/** Whether a text nests deeper than bodies may. Reading it calls functions within each other, and an end of the stack ends the process. */
function isDeep(text: string): boolean {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme))
    if (parser.stack.length > levelsMax) return true
  }
  return false
}

/** The value of a document without aliases: a few of them can stand for millions of values. */
function withoutAliases(at: 'plan' | 'rule', document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    throw invalid({ at, reason: 'has aliases: write out what they stand for' })
  }
}

function problemsOf(value: unknown, blockchains: readonly string[] | undefined): FieldError[] {
  const found = refusals(checkPlan, value, '')
  const { rules } = (value ?? {}) as { rules?: unknown }
  if (!Array.isArray(rules)) return found
  const parts = rules.flatMap((rule, index) => problemsOfRule(rule, `rules[${index}]`, blockchains))
  return [...found, ...parts, ...repeatedNames(rules)]
}

function problemsOfRule(rule: unknown, at: string, blockchains: readonly string[] | undefined): FieldError[] {
  if (typeof rule !== 'object' || rule === null) return []
  const { on, match, do: act, when } = rule as Record<string, unknown>
  const check = checks.get(String(on))
  if (!check) return []
  return [
    ...backwardWindow(when, `${at}.when.window`),
    ...(match === undefined ? [] : refusals(check.match, match, `${at}.match`)),
    ...(blockchains && typeof match === 'object' && match !== null
      ? unmetWords({ on: on as FaultPoint, match }, `${at}.match`, blockchains)
      : []),
    ...(act === undefined ? [] : refusals(check.do, act, `${at}.do`)),
    ...(blockchains ? lackedActs({ on: on as FaultPoint, match, act }, `${at}.do`, blockchains) : []),
  ]
}

/** A window that ends before it begins would never be met. */
function backwardWindow(when: unknown, at: string): FieldError[] {
  const { window } = (when ?? {}) as { window?: unknown }
  if (!Array.isArray(window) || window.length !== 2 || !window.every((end) => typeof end === 'string'))
    return []
  const [from, to] = window.map(delayMs) as [number, number]
  return from < to
    ? []
    : [
        {
          error: 'invalid_value' as const,
          message: `${at} must end after it begins`,
          location: at,
          invalidValue: window,
        },
      ]
}

function repeatedNames(rules: readonly unknown[]): FieldError[] {
  const names = rules.map((rule) => (rule as { name?: unknown } | null)?.name)
  return names.flatMap((name, index) =>
    typeof name === 'string' && names.indexOf(name) < index
      ? [
          {
            error: 'invalid_value' as const,
            message: `rules[${index}].name is the name of another rule`,
            location: `rules[${index}].name`,
            invalidValue: name,
          },
        ]
      : [],
  )
}

/** The refusals of one part, at their places in the plan, with the nearest known word for an unknown field. */
function refusals(check: (value: unknown) => void, value: unknown, prefix: string): FieldError[] {
  try {
    check(value)
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.fields.map((field) => {
      const location = placeOf(prefix, field.location ?? 'body')
      const message = field.message.replace(field.location ?? 'body', location)
      return {
        ...field,
        location,
        message: field.error === 'not_required' ? `${message}${near(location)}` : message,
      }
    })
  }
}

const placeOf = (prefix: string, location: string): string => {
  if (prefix === '') return location === 'body' ? 'plan' : location
  return location === 'body' ? prefix : `${prefix}.${location}`
}

type WithMembers = { properties?: Readonly<Record<string, WithMembers>> }

/** The members of a schema, and those of its members. */
const wordsOf = ({ properties = {} }: WithMembers): string[] =>
  Object.entries(properties).flatMap(([word, member]) => [word, ...wordsOf(member)])

const knownWords = [
  ...new Set(
    [planSchema, ruleSchema, ...Object.values(points).flatMap((parts) => [parts.match, parts.do])].flatMap(
      (schema) => wordsOf(schema as WithMembers),
    ),
  ),
]

function near(location: string): string {
  const found = nearest(location.split('.').at(-1)!, knownWords)
  return found === undefined ? '' : `: did you mean ${found}?`
}

/** The error, and the line of the nearest place that the text has. */
function placed(field: FieldError, document: Document, lines: LineCounter) {
  const path = (field.location ?? '').split(/[.[\]]+/).filter((step) => step !== '' && step !== 'plan')
  const steps = path.map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  for (let length = steps.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(steps.slice(0, length), true)
    if (!isNode(node) || !node.range) continue
    return { field, line: lines.linePos(node.range[0]).line }
  }
  return { field, line: 1 }
}

/** Reads one more rule for a plan. */
export function readRule(text: string, blockchains: readonly string[]): FaultRule {
  const { value } = readText('rule', text)
  return readPlan(JSON.stringify({ apiVersion: 'bezant/v1', rules: [value] }), blockchains).rules[0]!
}

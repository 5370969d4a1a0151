import { endpoints } from '#api/index'
import { type ErrorName, errorKinds } from '#lib/error-kinds'
import { errorSchema, responseSchema } from '#runtime/http/schemas'
import { compileResponse } from '#runtime/http/validate'
import { oncePer } from '#runtime/scheduling/memoize'

/** An answer that is not as the interface describes it, or the absence of one. */
export class Violation extends Error {}

/** The server lacks what a check is about, such as a second chain. */
export class LeftOut extends Error {}

/** The requests of an operation, by its method and documented path, such as `GET /v1/w3s/wallets/{id}`. */
type ConformanceRequest = {
  params?: Record<string, string>
  query?: Record<string, string | number>
  /** Sent as JSON; a text is sent as it is. */
  body?: object | string
  /** Sent in place of the key of the run; null sends none. */
  key?: string | null
  headers?: Record<string, string>
}

type ConformanceAnswer = {
  status: number
  headers: Headers
  /** The content of `data`, or the whole body where the operation has no envelope. */
  // biome-ignore lint/suspicious/noExplicitAny: checks reach into answers of every shape, which their schemas have been compared with
  data: any
  /** Code and message of a refusal. */
  code: number | undefined
  message: string | undefined
}

export type ConformanceCaller = {
  /** Asks, and compares the answer with the schema of the operation. */
  ask(operation: string, asked?: ConformanceRequest): Promise<ConformanceAnswer>
  /** Asks for a success, and returns its `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  done(operation: string, asked?: ConformanceRequest): Promise<any>
  /** Asks for a refusal with one of these errors. */
  refused(
    operation: string,
    errors: ErrorName | readonly ErrorName[],
    asked?: ConformanceRequest,
  ): Promise<ConformanceAnswer>
  /** The operations that have been asked for. */
  asked: ReadonlySet<string>
}

export const answerTimeoutMs = 30_000

const documented = new Map(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]))

const successCheck = oncePer((endpoint: (typeof endpoints)[number]) => {
  const schema = responseSchema(endpoint)
  return schema && compileResponse(schema)
})
const errorCheck = compileResponse(errorSchema)

export function openCaller(url: string, ownKey: string): ConformanceCaller {
  const asked = new Set<string>()
  const ask = async (operation: string, request: ConformanceRequest = {}): Promise<ConformanceAnswer> => {
    const endpoint = documented.get(operation)
    if (!endpoint) throw new Error(`the interface has no operation ${operation}`)
    asked.add(operation)
    const { key = ownKey, body, headers } = request
    const response = await fetch(url + pathOf(endpoint.path, request), {
      method: endpoint.method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(answerTimeoutMs),
    }).catch((error: Error & { cause?: NodeJS.ErrnoException }) => {
      throw new Violation(`no answer (${error.cause?.code ?? error.name})`)
    })
    const value = await bodyOf(response)
    const check = response.ok ? successCheck(endpoint) : errorCheck
    if (check && response.status !== 204 && !check(value)) {
      const { instancePath, message } = check.errors![0]!
      const place = instancePath === '' ? 'the body' : instancePath.slice(1).replaceAll('/', '.')
      throw new Violation(`answers ${response.status} with another shape: ${place} ${message}`)
    }
    const { data, code, message } = (value ?? {}) as { data?: unknown; code?: number; message?: string }
    return {
      status: response.status,
      headers: response.headers,
      data: endpoint.enveloped === false ? value : data,
      code: response.ok ? undefined : code,
      message: response.ok ? undefined : message,
    }
  }
  const done: ConformanceCaller['done'] = async (operation, request) => {
    const { status, data, message } = await ask(operation, request)
    if (status < 300) return data
    throw new Violation(`answers ${status} (${message}), not with a success`)
  }
  const refused: ConformanceCaller['refused'] = async (operation, errors, request) => {
    const answer = await ask(operation, request)
    const kinds = [errors].flat().map((name) => errorKinds[name])
    if (kinds.some(({ status, code }) => answer.status === status && answer.code === code)) return answer
    const wanted = kinds.map(({ status, code }) => `${status} with code ${code}`).join(' or ')
    throw new Violation(`answers ${shown(answer)}, not ${wanted}`)
  }
  return { ask, done, refused, asked }
}

const shown = ({ status, code }: ConformanceAnswer) =>
  code === undefined ? `${status}` : `${status} with code ${code}`

function pathOf(path: string, { params = {}, query = {} }: ConformanceRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? filled : `${filled}?${text}`
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Violation(`answers ${response.status} with a body that is no JSON`)
  }
}

/** Throws a violation unless `isTrue`; `what` says what is not so. */
export function requireThat(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Violation(what)
}

export const requireEqual = (found: unknown, wanted: unknown, what: string): void => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)]
  requireThat(one === other, `${what} is ${one}, not ${other}`)
}

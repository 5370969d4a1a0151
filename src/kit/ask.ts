/** Requests of a test to its sandbox. */
export type Ask = {
  /** An operation below /sandbox, without a key: the content of `data`. */
  lab<Data>(method: CallMethod, path: string, body?: LabBody): Promise<Data>
  /** An operation of the API, with the key of the sandbox: the content of `data`. */
  api<Data>(method: CallMethod, path: string, body?: object): Promise<Data>
  /** The bytes of an answer of the lab. */
  bytes(path: string): Promise<Uint8Array>
}

export type CallMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
/** An object is sent as JSON, a text as a plan, and bytes as a snapshot. */
type LabBody = object | string | Uint8Array

/** A sandbox refuses a request. */
export class SandboxError extends Error {
  /** The HTTP status of the answer. */
  readonly status: number
  /** The code of the error, as docs/errors.md lists it. */
  readonly code: number | undefined

  constructor(message: string, status: number, code: number | undefined) {
    super(message)
    this.name = 'SandboxError'
    this.status = status
    this.code = code
  }
}

type WireAnswer = { data?: unknown; code?: number; message?: string; errors?: { message?: string }[] }

/** `explain` returns why the sandbox does not answer, where that is known. */
export function askAt(url: string, apiKey: string, explain: () => string | undefined): Ask {
  const send = async (method: CallMethod, path: string, headers: Record<string, string>, body?: LabBody) => {
    if (!path.startsWith('/'))
      throw new Error(`${method} ${path}: the path must begin with /, as in /v1/payments`)
    const sent: Partial<Sent> = body === undefined ? {} : sentOf(body)
    const response = await fetch(url + path, {
      method,
      ...sent,
      headers: { ...sent.headers, ...headers },
    }).catch((error: Error & { cause?: NodeJS.ErrnoException }) => {
      const reason = explain() ?? `it does not answer at ${url} (${error.cause?.code ?? error.message})`
      throw new Error(`${method} ${path}: ${reason}`)
    })
    if (response.ok) return response
    const { code, message, errors = [] } = (await response.json().catch(() => ({}))) as WireAnswer
    const first = message ?? `the status ${response.status}`
    const fields = errors.flatMap((each) => each.message ?? []).filter((each) => !first.includes(each))
    const said = [first, ...fields].join(' ')
    throw new SandboxError(`${method} ${path}: ${said}`, response.status, code)
  }
  const dataOf = async <Data>(response: Response): Promise<Data> => {
    const text = await response.text()
    return (text === '' ? undefined : (JSON.parse(text) as WireAnswer).data) as Data
  }
  return {
    lab: async (method, path, body) => dataOf(await send(method, path, {}, body)),
    api: async (method, path, body) =>
      dataOf(await send(method, path, { authorization: `Bearer ${apiKey}` }, body)),
    bytes: async (path) => new Uint8Array(await (await send('GET', path, {})).arrayBuffer()),
  }
}

type Sent = { body: NonNullable<RequestInit['body']>; headers: Record<string, string> }

function sentOf(body: LabBody): Sent {
  if (typeof body === 'string') return { body, headers: { 'content-type': 'application/yaml' } }
  if (body instanceof Uint8Array)
    return { body: body as Uint8Array<ArrayBuffer>, headers: { 'content-type': 'application/gzip' } }
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

/** A path with texts in it that may hold any characters. */
export const pathOf = (parts: TemplateStringsArray, ...values: readonly string[]): string =>
  parts.reduce((path, part, at) => path + encodeURIComponent(values[at - 1]!) + part)

/** The query of the parameters that have a value, with its question mark. */
export function queryText(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

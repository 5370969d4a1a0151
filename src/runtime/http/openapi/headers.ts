import { type Components, refer } from './components.ts'

const headers = {
  'X-Request-Id': {
    description:
      "The id of the request: the caller's own, if the request has a plain token in this header, or a new UUID. The log of the server names it.",
    schema: { type: 'string' },
  },
  Link: {
    description:
      'The addresses of the pages around this one (RFC 8288): `self` and `first` always, `next` and `prev` where there is such a page.',
    schema: { type: 'string' },
    example:
      '<http://127.0.0.1:4020/v1/payments?pageSize=50&to=2026-01-01T00%3A00%3A00.000Z>; rel="self", <http://127.0.0.1:4020/v1/payments?pageSize=50&to=2026-01-01T00%3A00%3A00.000Z>; rel="first"',
  },
  'Retry-After': {
    description: 'The number of seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const

/** Returns references to the headers of a response. */
export const headersOf = (names: readonly (keyof typeof headers)[], components: Components): object =>
  Object.fromEntries(names.map((name) => [name, refer(components, 'headers', name, headers[name])]))

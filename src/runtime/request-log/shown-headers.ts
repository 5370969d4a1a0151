import type { IncomingHttpHeaders } from 'node:http'
import { isUuid } from '#lib/ids'
import { redacted } from './keeper.ts'

const media =
  /^(application|text|multipart|\*)\/(json|[a-z]+\+json|\*|octet-stream|x-www-form-urlencoded|plain|html|form-data)(; ?charset=utf-8)?$/i
const coding = /^(gzip|x-gzip|deflate|br|zstd|identity|chunked)(, ?(gzip|deflate|br|zstd|identity))*$/i
const count = /^\d{1,10}$/

/** The headers that are shown if their value has this form. No other header is named: a name can be anything too. */
const forms: Readonly<Record<string, (value: string) => boolean>> = {
  'content-type': (value) => media.test(value),
  accept: (value) => media.test(value),
  'content-encoding': (value) => coding.test(value),
  'accept-encoding': (value) => coding.test(value),
  'content-length': (value) => count.test(value),
  'retry-after': (value) => count.test(value),
  'x-request-id': isUuid,
  // Shown as redacted, so that their presence is known.
  authorization: () => false,
  'x-user-token': () => false,
}

/** The headers of a request or an answer that the log shows. */
export function shownHeaders(headers: IncomingHttpHeaders | Readonly<Record<string, unknown>>) {
  const shown: Record<string, string> = {}
  for (const name of Object.keys(forms)) {
    const value = (headers as Readonly<Record<string, unknown>>)[name]
    if (value === undefined) continue
    const text = String(value)
    shown[name] = forms[name]!(text) ? text : redacted
  }
  return shown
}

/** Names of programs that some clients send without a version. */
const bareNames = /^(node|undici|axios|got|bun|deno)$/i
const product = /(?:^|[\s(;,])([A-Za-z][A-Za-z_-]{0,39}\/v?\d{1,4}(?:\.\d{1,6}){0,3})(?=$|[\s);,])/g
const productsMax = 5

/** The products and versions of a user agent, such as `Mozilla/5.0 Chrome/150.0`; a comment could hold anything. */
export function shownAgent(text: string | undefined): string | null {
  if (text === undefined || text.length > 1_024) return null
  if (bareNames.test(text)) return text
  const products = [...text.matchAll(product)].slice(0, productsMax).map(([, name]) => name)
  return products.length === 0 ? null : products.join(' ')
}

import type { FastifyInstance, FastifyReply } from 'fastify'
import { encodeQR } from 'qr'
import type { Log } from '#runtime/log/log'
import { methodOf, type PaymentData, type Piece, problemView, view } from '../../../page/pay/view.js'
import { titleOf } from '../../../page/pay/words.js'
import { apiErrorOf } from './api-error.ts'

/** Returns what the page with this token shows; throws the documented error where there is none. */
export type ReadPayment = (token: string) => Promise<PaymentData>

/** Texts of the merchant are on this page, so it gets nothing but its own scripts, styles and codes, and no site may frame it. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'"

type PageRequest = { Params: { token: string }; Querystring: Record<string, unknown> }

const textIn = (query: Record<string, unknown>, name: string) =>
  typeof query[name] === 'string' ? query[name] : undefined

/** Serves the pages on which payment intents are paid: written here, so that they work without a script, and kept up to date by one. */
export function registerPaymentPages(
  server: FastifyInstance,
  { read, log, draw = drawCode }: { read: ReadPayment; log: Log; draw?: (text: string) => string },
): void {
  const codeOf = keptCodes(draw)
  const send = (reply: FastifyReply, title: string, parts: readonly Piece[], stage = 'none') =>
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', policy)
      .send(documentOf(title, parts, stage))

  server.get<PageRequest>('/pay/:token', async ({ id, params, query }, reply) => {
    try {
      const data = await read(params.token)
      const choice = { path: `/pay/${params.token}`, chain: textIn(query, 'chain'), of: textIn(query, 'of') }
      return send(reply, titleOf(data), view(data, choice), data.stage)
    } catch (thrown) {
      const { status } = apiErrorOf(thrown)
      if (status >= 500) log.error({ err: thrown, requestId: id }, 'a payment page could not be written')
      const { title, text } = status === 404 ? unknown : unavailable
      return send(reply.code(status), title, problemView(title, text))
    }
  })
  server.get<PageRequest>('/pay/:token/code.svg', async ({ params, query }, reply) => {
    const data = await read(params.token)
    const method = methodOf(data, { chain: textIn(query, 'chain') })
    if (!method) return reply.callNotFound()
    const text = (textIn(query, 'of') === 'payment' && method.paymentUri) || method.address
    return reply.type('image/svg+xml').send(codeOf(data, text))
  })
}

const drawCode = (text: string): string => encodeQR(text, 'svg', { ecc: 'medium', border: 3, optimize: true })

/** Returns a function that draws each code of a page once, and keeps it as long as the answer that requests share. */
function keptCodes(draw: (text: string) => string) {
  const kept = new WeakMap<PaymentData, Map<string, string>>()
  return (data: PaymentData, text: string): string => {
    const codes = kept.get(data) ?? new Map<string, string>()
    kept.set(data, codes)
    const code = codes.get(text) ?? draw(text)
    codes.set(text, code)
    return code
  }
}

const unknown = {
  title: 'This link leads to no payment',
  text: 'Open the whole link that the merchant gave you, or ask the merchant for a new one.',
}
const unavailable = {
  title: 'This payment cannot be shown now',
  text: 'Load the page again in a moment. Do not pay to an address that you cannot see here.',
}

const documentOf = (title: string, parts: readonly Piece[], stage: string) => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
  <meta name="robots" content="noindex">
  <title>${escaped(title)}</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/assets/pay/pay.css">
${stage === 'none' ? '' : '  <script type="module" src="/assets/pay/main.js"></script>\n'}</head>
<body>
  <main id="page" data-stage="${escaped(stage)}">${parts.map(htmlOf).join('')}</main>
  <p id="spoken" class="unseen" role="status"></p>
</body>
</html>
`

const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => references[character]!)

const empty = new Set(['img', 'wbr'])

function htmlOf(part: Piece): string {
  if (typeof part === 'string') return escaped(part)
  const { tag, attributes, children } = part
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`)
  const start = `<${tag}${list.join('')}>`
  return empty.has(tag) ? start : `${start}${children.map(htmlOf).join('')}</${tag}>`
}

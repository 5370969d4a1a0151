import type { FastifyInstance, FastifyReply } from 'fastify'
import { encodeQR } from 'qr'
import type { Log } from '#runtime/log/log'
import { allWords, type Language } from '../../../page/pay/all-words.js'
import { methodOf, type PaymentData, type Piece, problemView, view } from '../../../page/pay/view.js'
import { titleOf } from '../../../page/pay/words.js'
import { apiErrorOf } from './api-error.ts'
import { chooseLanguage } from './choose-language.ts'

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
  const send = (reply: FastifyReply, page: WrittenPage) =>
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', policy)
      .header('Content-Language', page.language)
      .header('Vary', 'Accept-Language')
      .send(documentOf(page))

  server.get<PageRequest>('/pay/:token', async ({ id, params, query, headers }, reply) => {
    const lang = languageIn(textIn(query, 'lang'))
    const language = lang ?? chooseLanguage(headers['accept-language'], offered) ?? 'en'
    const words = allWords[language]
    try {
      const data = await read(params.token)
      const choice = { path: `/pay/${params.token}`, chain: textIn(query, 'chain'), of: textIn(query, 'of') }
      const parts = view(data, { ...choice, lang, language, words })
      return send(reply, { title: titleOf(data, words), parts, stage: data.stage, language })
    } catch (thrown) {
      const { status } = apiErrorOf(thrown)
      if (status >= 500) log.error({ err: thrown, requestId: id }, 'a payment page could not be written')
      const problem = status === 404 ? 'unknown' : 'unavailable'
      const [title] = words.problems[problem]!
      return send(reply.code(status), { title, parts: problemView(problem, words), stage: 'none', language })
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

const offered = Object.keys(allWords) as Language[]

/** The language that a link names; a name that is none counts as absent. */
const languageIn = (text: string | undefined) => offered.find((language) => language === text)

type WrittenPage = { title: string; parts: readonly Piece[]; stage: string; language: Language }

/** Scripts of a page that is kept up to date: its words come with it. */
const scriptsOf = (
  language: Language,
) => `  <link rel="modulepreload" href="/assets/pay/languages/${language}.js">
  <script type="module" src="/assets/pay/main.js"></script>
`

const documentOf = ({ title, parts, stage, language }: WrittenPage) => `<!doctype html>
<html lang="${language}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
  <meta name="robots" content="noindex">
  <title>${escaped(title)}</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/assets/pay/wallets.css">
  <link rel="stylesheet" href="/assets/pay/pay.css">
${stage === 'none' ? '' : scriptsOf(language)}</head>
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

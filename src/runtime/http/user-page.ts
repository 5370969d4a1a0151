import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '#runtime/log/log'
import { keepFile, sendKept } from './kept-file.ts'
import { type ReadPayment, registerPaymentPages } from './payment-page.ts'

export type UserPage = {
  /** Whether a site of this origin may show the page in a frame. */
  mayFrame: (origin: string) => Promise<boolean>
  /** Reads what a payment page shows: it has the same origin. */
  readPayment: ReadPayment
}

const folder = fileURLToPath(new URL('../../../page/', import.meta.url))

/** The addresses that the browser client opens; the script of the page distinguishes them. */
const pages = ['/', '/device-id', '/social/verify-token', '/social/verify-email']

const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' }

/**
 * The page loads scripts, styles and data from itself alone. Apps choose images and a font file; they choose no style
 * sheet, which could hide what the user signs.
 */
const policyOf = (ancestors: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: https:; font-src https: data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors ${ancestors}`

const nothingAllowed = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const permissions =
  'camera=(), microphone=(), geolocation=(), payment=(), usb=(), midi=(), serial=(), display-capture=()'

/** Registers the page with the headers of its origin. Frames are decided by the policy alone, which names one origin. */
export async function registerUserPage(
  server: FastifyInstance,
  {
    mayFrame,
    readPayment,
    log,
    strictTransportSecurity,
  }: UserPage & { log: Log; strictTransportSecurity: boolean },
): Promise<void> {
  await server.register(helmet, {
    strictTransportSecurity,
    contentSecurityPolicy: false,
    xFrameOptions: false,
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
  })
  server.addHook('onRequest', async (_, reply) => {
    reply.headers({
      'Content-Security-Policy': nothingAllowed,
      'Permissions-Policy': permissions,
      'Cache-Control': 'no-store',
    })
  })
  const names = (await readdir(folder, { recursive: true })).filter((name) => extname(name) in types)
  const html = preloading(await readFile(join(folder, 'index.html'), 'utf8'), names)
  for (const url of pages)
    server.get(url, async (request, reply) => {
      const origin = originOf(request)
      const ancestors = origin !== undefined && (await mayFrame(origin)) ? origin : "'none'"
      return reply
        .type('text/html; charset=utf-8')
        .header('Content-Security-Policy', policyOf(ancestors))
        .send(html)
    })
  await registerAssets(server, names)
  registerPaymentPages(server, { read: readPayment, log })
}

/** Lets a browser load all modules of the page of users at once: clients report a page that says nothing for ten seconds. */
function preloading(html: string, names: readonly string[]): string {
  const links = names
    .filter((name) => extname(name) === '.js' && !name.startsWith('pay/'))
    .map((name) => `  <link rel="modulepreload" href="/assets/${name}">\n`)
  return html.replace('</head>', `${links.join('')}</head>`)
}

/** Serves the scripts and styles, which are the same for all, by the names that they have in the folder. */
async function registerAssets(server: FastifyInstance, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const file = await keepFile(`${types[extname(name)]}; charset=utf-8`, await readFile(join(folder, name)))
    server.get(`/assets/${name}`, (request, reply) =>
      sendKept(request, reply.header('Cache-Control', 'no-cache'), file),
    )
  }
}

/** The origin that the client writes into the address, where there is just one. */
function originOf(request: FastifyRequest): string | undefined {
  const { origin } = request.query as { origin?: unknown }
  return typeof origin === 'string' ? origin : undefined
}

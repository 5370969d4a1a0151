import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type KeptFile, keepFile, sendKept } from './kept-file.ts'

const folder = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/**
 * The pages load from and call this server only, and no text becomes markup or a script: `svelte-trusted-html` makes the
 * templates of the framework, which hold no data, and `bezant-worker` gives scripts of this server to workers.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svelte-trusted-html bezant-worker',
].join('; ')

const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Bezant</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build:console</code> and load this page again. The API works without it: see <a href="/docs">/docs</a>.</p>
</html>
`

/** Serves the web console, which uses the public, the operator and the sandbox API like any other client. */
export async function registerConsole(server: FastifyInstance): Promise<void> {
  const kept = new Map<string, Promise<KeptFile>>()
  const fileOf = (path: string) => {
    let file = kept.get(path)
    if (!file) {
      file = readFile(folder + path).then((content) => keepFile(types[extname(path)]!, content))
      kept.set(path, file)
      // A file that could not be read is read again at the next request: the console may be built meanwhile.
      file.catch(() => kept.delete(path))
    }
    return file
  }
  const secure = (reply: FastifyReply) =>
    reply
      .header('Content-Security-Policy', policy)
      .header('Referrer-Policy', 'no-referrer')
      .header('Cross-Origin-Opener-Policy', 'same-origin')

  server.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
    const { name } = request.params
    const asset = /^[\w-][\w.-]*$/.test(name)
      ? await fileOf(`assets/${name}`).catch(() => undefined)
      : undefined
    if (!asset) return reply.callNotFound()
    // The name holds a hash of the content.
    secure(reply).header('Cache-Control', 'public, max-age=31536000, immutable')
    return sendKept(request, reply, asset)
  })
  server.get('/console/icon.svg', async (request, reply) => {
    const icon = await fileOf('icon.svg').catch(() => undefined)
    return icon ? sendKept(request, secure(reply), icon) : reply.callNotFound()
  })
  // Every other path is a page of the console: the page itself knows which. It is read each time, since it names the assets.
  for (const path of ['/console', '/console/', '/console/*'])
    server.get(path, async (_, reply) => {
      const page = await readFile(`${folder}index.html`).catch(() => undefined)
      secure(reply).header('Cache-Control', 'no-store').type(types['.html']!)
      return reply.code(page ? 200 : 503).send(page ?? notBuilt)
    })
  server.get('/', (_, reply) => reply.redirect('/console'))
}

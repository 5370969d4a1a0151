import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { builtFolder, securePages, sendUnbuilt } from './built-pages.ts'
import { type KeptFile, keepFile, sendKept } from './kept-file.ts'

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** `svelte-trusted-html` makes the templates of the framework, which hold no data, and `bezant-worker` gives scripts of this server to workers. */
const secure = securePages('svelte-trusted-html bezant-worker')

/** Serves the web console, which uses the public, the operator and the sandbox API like any other client. Scripts of the lab are a sandbox's. */
export async function registerConsole(
  server: FastifyInstance,
  { isSandbox }: { isSandbox: boolean },
): Promise<void> {
  const kept = new Map<string, Promise<KeptFile>>()
  const fileOf = (path: string) => {
    let file = kept.get(path)
    if (!file) {
      file = readFile(builtFolder + path).then((content) => keepFile(types[extname(path)]!, content))
      kept.set(path, file)
      // A file that could not be read is read again at the next request: the console may be built meanwhile.
      file.catch(() => kept.delete(path))
    }
    return file
  }

  server.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
    const { name } = request.params
    const isHere = isSandbox || !name.startsWith('lab-')
    const asset =
      isHere && /^[\w-][\w.-]*$/.test(name)
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
      const page = await readFile(`${builtFolder}index.html`).catch(() => undefined)
      if (!page) return sendUnbuilt(secure(reply), 'The pages of the console')
      return secure(reply).header('Cache-Control', 'no-store').type(types['.html']!).send(page)
    })
  server.get('/', (_, reply) => reply.redirect('/console'))
}

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { keepFile, sendKept } from './kept-file.ts'

const folder = fileURLToPath(new URL('../../../console/', import.meta.url))

const page = { name: 'index.html', type: 'text/html' }
const script = (name: string) => [`/console/${name}`, { name, type: 'text/javascript' }] as const

const files = {
  '/console': page,
  '/console/': page,
  '/console/console.css': { name: 'console.css', type: 'text/css' },
  ...Object.fromEntries(['ask.js', 'console.js', 'sections.js', 'table.js'].map(script)),
}

/** The page may load from and call this server only. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Serves the web console, a read-only viewer that uses the public API like any other client. */
export async function registerConsole(server: FastifyInstance): Promise<void> {
  for (const [url, { name, type }] of Object.entries(files)) {
    const file = await keepFile(`${type}; charset=utf-8`, await readFile(folder + name))
    server.get(url, (request, reply) =>
      sendKept(request, reply.header('Content-Security-Policy', policy), file),
    )
  }
  server.get('/', (_, reply) => reply.redirect('/console'))
}

/**
 * The ceiling of a list: a bare HTTP server that runs the statement of a page through the same driver, prepared as the API prepares
 * it, and answers with the bytes that the API answered. It checks, converts and records nothing.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

/** The statement of each page by its path, and the body of the API's answer. */
export type BarePages = { [path: string]: { text: string; values: unknown[]; body: string } }

type Settings = {
  connection: { host: string; port: number; user: string; database: string }
  pages: BarePages
}

/** Connections of the pool that the API reads with. */
const poolSize = 4

const { connection, pages } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Settings
const pool = new pg.Pool({ ...connection, max: poolSize })
const statements = Object.entries(pages).map(([path, { text, values, body }], index) => {
  const query = { name: `page-${index}`, text, values, rowMode: 'array' as const }
  return [path, { query, body: Buffer.from(body) }] as const
})
const known = new Map(statements)

const server = createServer((request, response) => {
  const page = known.get(request.url!)!
  pool.query(page.query).then(
    () => {
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.setHeader('content-length', page.body.length)
      response.end(page.body)
    },
    (error: Error) => {
      response.statusCode = 500
      response.end(error.message)
    },
  )
})
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(
    `${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`,
  )
})
process.once('SIGTERM', () => process.exit())

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { endpoints, notBuilt, removedPaths } from '#api/index'
import { systemClock } from '#lib/time'
import { readConfig } from '#runtime/config'
import { openDatabase } from '#runtime/db/db'
import { createServer } from '#runtime/http/server'
import { createLog } from '#runtime/log/log'
import { openMetrics } from '#runtime/telemetry/metrics'
import { generatedPages } from './pages.ts'

/** Writes the files derived from the source: openapi.json and pages of docs. With --check it only compares. */
if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run generate [-- --check]: writes openapi.json and generated pages of docs, or compares them.\n',
  )
  process.exit(0)
}

const files: Record<string, string> = {
  'openapi.json': `${JSON.stringify(await openApi(), null, 2)}\n`,
  ...generatedPages,
}

let stale = 0
for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) {
    await mkdir('docs', { recursive: true })
    await writeFile(path, text)
  } else if ((await readFile(path, 'utf8').catch(() => '')) !== text) {
    process.stderr.write(`${path} is stale: npm run generate\n`)
    stale += 1
  }
}
process.exit(stale)

/** The OpenAPI description of every registered route; the database is never connected to. */
async function openApi(): Promise<object> {
  const database = openDatabase({ url: 'postgres://unused' }, 1)
  const scope = {
    config: readConfig({ publicUrl: 'http://127.0.0.1:4020' }, {}),
    database,
    db: database,
    clock: systemClock,
    log: createLog('silent'),
    metrics: openMetrics(),
  }
  const server = await createServer({
    scope,
    endpoints,
    pages: true,
    removed: removedPaths,
    notBuilt,
    widen: (ctx) => ctx,
  })
  await server.ready()
  const document = server.swagger()
  await server.close()
  return document
}

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { endpoints, removedPaths } from '#api/index'
import { errorKinds } from '#lib/error-kinds'
import { systemClock } from '#lib/time'
import { readConfig } from '#runtime/config'
import { openDatabase } from '#runtime/db/db'
import { createServer } from '#runtime/http/server'
import { createLog } from '#runtime/log/log'

/** Writes what is derived from the source: openapi.json and docs/errors.md. With --check it only compares. */
if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run generate [-- --check]: writes openapi.json and docs/errors.md, or compares them.\n',
  )
  process.exit(0)
}

const files: Record<string, string> = {
  'openapi.json': `${JSON.stringify(await openApi(), null, 2)}\n`,
  'docs/errors.md': errorsPage(),
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

/** The description of every registered route; the database is never connected to. */
async function openApi(): Promise<object> {
  const database = openDatabase({ url: 'postgres://unused' }, 1)
  const scope = {
    config: readConfig({ publicUrl: 'http://127.0.0.1:4020' }, {}),
    database,
    db: database,
    clock: systemClock,
    log: createLog('silent'),
  }
  const server = await createServer({ scope, endpoints, removed: removedPaths, widen: (ctx) => ctx })
  await server.ready()
  const document = server.swagger()
  await server.close()
  return document
}

function errorsPage(): string {
  const rows = Object.entries(errorKinds)
    .map(([name, { code, status, text }]) => ({ name, code, status, text }))
    .sort((a, b) => a.code - b.code || a.name.localeCompare(b.name))
    .map(({ name, code, status, text }) => `| ${code} | ${status} | ${name} | ${text} |`)
  return `# Errors

Generated from \`src/lib/error-kinds.ts\`. Every answer that is not a success is
\`{"code": number, "message": string, "errors"?: [{"error", "message", "location", "invalidValue", "constraints"}]}\`;
the message says which field, why, and what to do.

| code | HTTP | name | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}

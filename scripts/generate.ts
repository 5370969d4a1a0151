import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { endpoints, introduction } from '#api/index'
import { openApiDocument } from '#runtime/http/openapi/document'
import { generatedPages } from './pages.ts'

/** Writes the files derived from the source: openapi.json and pages of docs. With --check it only compares. */
if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run generate [-- --check]: writes openapi.json and generated pages of docs, or compares them.\n',
  )
  process.exit(0)
}

/** The address of a sandbox; a running server writes its own. */
const servers = [{ url: 'http://127.0.0.1:4020', description: 'The sandbox that `npm start` starts.' }]

const files: Record<string, string> = {
  'openapi.json': `${JSON.stringify(openApiDocument({ endpoints, introduction, servers }), null, 2)}\n`,
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

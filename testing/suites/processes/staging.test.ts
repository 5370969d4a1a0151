import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { urlOf } from '#testing/databases/database-clone'
import { until } from '#testing/platform/until'
import { endGroup } from '#testing/processes/process-group'
import { initializedDirectory, programFile } from '#testing/processes/programs'
import { quietPort } from '#testing/processes/quiet-port'
import { isDeep } from '#testing/runner/size'

let folder: string
let test: TestDatabase
let page: string
let environment: Record<string, string>
/** The shells, each with its background processes. */
const groups: number[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bezant-staging-'))
  test = await openTestDatabase()
  mkdirSync(join(folder, 'staging'))
  renameSync(await initializedDirectory(), join(folder, 'staging', 'chain'))
  const blocks = [...readFileSync('docs/staging.md', 'utf8').matchAll(/```sh\n([\s\S]+?)```/g)].map(
    ([, text]) => text!,
  )
  page = blocks.join('').replace('postgresql://localhost/staging', `'${urlOf(test.connection)}'`)
  const { DATABASE_URL: _, ...own } = process.env as Record<string, string>
  environment = { ...own, BEZANT_PORT: String(await quietPort()), PROGRAM: await programFile('bezant') }
})
afterAll(async () => {
  await Promise.all(groups.map(endGroup))
  await test?.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

it.runIf(isDeep)(
  'the documented commands stage production on a local node: a payment is paid, the books equal the chain',
  async () => {
    const port = environment['BEZANT_PORT']
    const shell = spawn('bash', ['-e'], { cwd: folder, env: environment, detached: true })
    groups.push(shell.pid!)
    let said = ''
    let failed = ''
    shell.stdout.on('data', (chunk) => {
      said += chunk
    })
    shell.stderr.on('data', (chunk) => {
      failed += chunk
    })
    const tell = (line: string) => shell.stdin.write(`${line}\n`)
    tell(`bezant() { node "$PROGRAM" "$@"; }\n${page}`)
    const isServing = () =>
      fetch(`http://127.0.0.1:${port}/ping`).then(
        () => true,
        () => false,
      )
    const isFollowed = async () => (await test.database.all(sql`select 1 from blocks limit 1`)).length > 0
    const isReady = async () => (await isServing()) && (await isFollowed())
    // A program that ends in the background is not the end of the shell.
    const hasEnded = () => shell.exitCode !== null || /^bezant: /m.test(failed)
    await until(async () => hasEnded() || (await isReady()), 'the API answers, the chain is followed')
    expect(hasEnded(), failed).toBe(false)

    const { apiKey } = JSON.parse(readFileSync(join(folder, 'entity.json'), 'utf8')) as { apiKey: string }
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return ((await response.json()) as { data: never }).data as never
    }
    const intent: { paymentMethods: { address: string }[] } = await call('POST', '/v1/paymentIntents', {
      idempotencyKey: randomUUID(),
      type: 'continuous',
      currency: 'USD',
      settlementCurrency: 'USD',
      paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
    })
    const payments = async (): Promise<{ status: string }[]> => call('GET', '/v1/payments')
    tell(`drip ${intent.paymentMethods[0]!.address}`)
    await until(async () => (await payments()).length === 1, 'the payment is seen')
    expect((await payments())[0]!.status).toBe('pending')
    tell('confirm')
    await until(async () => (await payments())[0]!.status === 'paid', 'the payment is paid')
    tell('confirm; bezant reconcile; echo "code $?"')
    await until(() => /code \d/.test(said), 'the books are compared')
    expect(said).toContain('zero gaps')
    shell.stdin.end()
  },
)

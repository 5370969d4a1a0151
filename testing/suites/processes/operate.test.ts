/** Executes commands of `docs/operate.md`: an installation, its audit, a backup, and its restore on a new server. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Cluster, openCluster, systemPostgres } from '#testing/databases/system-postgres'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import { endGroup } from '#testing/processes/process-group'
import { programFile } from '#testing/processes/programs'
import { quietPort } from '#testing/processes/quiet-port'
import { isDeep } from '#testing/runner/size'

const page = readFileSync('docs/operate.md', 'utf8')
const postgres = systemPostgres()
let folder: string
let clusters: Cluster[]
let chain: TestChain
let shell: Awaited<ReturnType<typeof openShell>>
const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  if (!isDeep || !postgres) return
  folder = mkdtempSync(join(tmpdir(), 'bezant-operate-'))
  clusters = [await openCluster(postgres), await openCluster(postgres)]
  const local = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  chain = local.chains[0]!
  closers.push(local.stop)
  shell = await openShell(postgres)
})
afterAll(async () => {
  if (shell) await endGroup(shell.pid)
  for (const close of closers) await close()
  for (const cluster of clusters ?? []) await cluster.close()
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** The commands under a heading, with the names of this test in place of those of the page. */
function commandsOf(heading: string): string {
  const [, section] = page.split(new RegExp(`^#+ ${heading}\n`, 'm'))
  const text = section!.split(/^##+ /m)[0]!
  const blocks = [...text.matchAll(/^( *)```sh\n([\s\S]+?)^ *```/gm)].map(([, indent, block]) =>
    block!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  expect(blocks.length, heading).toBeGreaterThan(0)
  return (
    blocks
      .join('')
      .replaceAll('new-db.example.com', `127.0.0.1:${clusters[1]!.port}`)
      .replaceAll('db.example.com', `127.0.0.1:${clusters[0]!.port}`)
      // The servers of this test are on this machine, and have no certificate.
      .replaceAll(/^export TLS=.*$/gm, 'export TLS=sslmode=disable')
      .replace('--environment LIVE --policy policy.json', '--environment TEST')
      .replace(
        /^export BEZANT_NETWORKS=.*$/m,
        `export BEZANT_NETWORKS='${JSON.stringify([{ blockchain: 'BASE-SEPOLIA', rpcUrl: chain.rpcUrl }])}'`,
      )
  )
}

async function openShell(bin: string) {
  const { DATABASE_URL: _, ...own } = process.env as Record<string, string>
  const port = await quietPort()
  const more = { BEZANT_PORT: String(port), PROGRAM: await programFile('bezant') }
  const env = { ...own, ...more, PATH: `${bin}:${own['PATH']}` }
  const child = spawn('bash', ['-e'], { cwd: folder, env, detached: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk
    })
  child.stdin.write('bezant() { node "$PROGRAM" "$@"; }\n')
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    said: () => said,
    tell: (text: string) => child.stdin.write(`${text}\n`),
    /** Waits for an event unless a command fails before. */
    until: async (holds: () => Promise<boolean>, what: string) => {
      await until(async () => child.exitCode !== null || (await holds()), what)
      expect(child.exitCode, said).toBeNull()
    },
  }
}

async function call(method: string, path: string, body?: object) {
  const { apiKey } = JSON.parse(readFileSync(join(folder, 'entity.json'), 'utf8')) as { apiKey: string }
  const response = await fetch(`${shell.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return ((await response.json()) as { data: never }).data as never
}

/** The readiness; `undefined` while the API does not answer. */
const readiness = () =>
  fetch(`${shell.url}/ready`).then(
    async (response) => (await response.json()) as { ready: boolean; signing: string },
    () => undefined,
  )
const isReady = async () => (await readiness())?.ready === true

async function pay(address: string): Promise<void> {
  await chain.send(address, 5_000_000n, 'USDC')
  await chain.mine(80)
}
const arePaid = async (count: number) => {
  const payments: { status: string }[] = await call('GET', '/v1/payments')
  return payments.length === count && payments.every(({ status }) => status === 'paid')
}

it.runIf(isDeep && postgres)(
  'property 136: the documented commands install, audit, back up and restore on a server that has never had the roles',
  async () => {
    shell.tell(commandsOf('Start'))
    await shell.until(isReady, 'the new installation is ready')
    const intent: { paymentMethods: { address: string }[] } = await call('POST', '/v1/paymentIntents', {
      idempotencyKey: randomUUID(),
      type: 'continuous',
      currency: 'USD',
      settlementCurrency: 'USD',
      paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
    })
    const { address } = intent.paymentMethods[0]!
    await pay(address)
    await shell.until(() => arePaid(1), 'the payment is paid')

    const audit = commandsOf('Verify the audit trail')
      .replace(/verify --heads [^ ]+/, '$& | tee audit.txt')
      .replace('HEX', '"$(grep -oE "[0-9a-f]{64}" audit.txt)"')
    shell.tell(`set -o pipefail\n${audit}echo "veri""fied"`)
    await shell.until(async () => shell.said().includes('verified'), 'the audit trail is verified')
    expect(shell.said().match(/signed by [0-9a-f]{64}.*: nothing was altered/g)).toHaveLength(2)

    const [backUp, ...restore] = commandsOf('Back up and restore').split(/^(?=export ADMIN_URL)/m)
    shell.tell(`${backUp}\nkill %1 %2; wait; echo "back""ed up"`)
    await shell.until(async () => shell.said().includes('backed up'), 'the backup is made')
    await clusters[0]!.close()
    await pay(address)
    expect(restore).toHaveLength(1)
    shell.tell(restore.join(''))
    await shell.until(isReady, 'the restored installation is ready')
    await shell.until(() => arePaid(2), 'the payments before and after the backup are paid')
    shell.tell('bezant reconcile; echo "code $?"')
    await shell.until(async () => /code \d/.test(shell.said()), 'the books are compared')
    expect(shell.said()).toContain('zero gaps')
  },
)

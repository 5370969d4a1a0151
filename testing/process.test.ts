import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { until } from './builders.ts'
import { isRunning, type Program, processesUnder, spawnProgram, startProgram } from './program.ts'

const chains = ['--chains', 'BASE-SEPOLIA']
const stopWithinMs = 5_000

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanUps.splice(0).reverse()) await clean()
})

async function newDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bezant-process-'))
  cleanUps.push(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

async function start(dataDir: string, args: readonly string[] = []): Promise<Program> {
  const program = await startProgram({ dataDir, args: [...chains, ...args] })
  cleanUps.push(() => program.killAll())
  return program
}

async function newWalletSet({ tenant }: Program): Promise<string> {
  const { body, text } = await tenant.http('POST', '/v1/w3s/developer/walletSets', {
    body: { idempotencyKey: randomUUID(), entitySecretCiphertext: await tenant.sealSecret(), name: 'Kept' },
  })
  expect(body?.data?.walletSet?.id, text).toBeTruthy()
  return body.data.walletSet.id
}

it.each([
  ['SIGTERM', 'process'],
  ['SIGTERM', 'group'],
  ['SIGINT', 'group'],
  ['SIGINT', 'process'],
] as const)('stops on %s to the %s, leaves nothing running and loses nothing', async (signal, to) => {
  const dataDir = await newDirectory()
  const first = await start(dataDir)
  const id = await newWalletSet(first)
  const [chain] = first.answer.chains
  const outsider = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
  const { hash, number } = await mine(chain!.rpcUrl, outsider)
  const tree = first.tree()
  expect(tree.length).toBeGreaterThan(3)
  const sentAtMs = performance.now()
  first.signal(signal, to)
  expect(await first.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - sentAtMs).toBeLessThan(stopWithinMs)
  await until(async () => !tree.some(isRunning), 'everything it started has ended', 1_000)

  const second = await start(dataDir)
  const { body } = await second.tenant.http('GET', `/v1/w3s/walletSets/${id}`)
  expect(body.data.walletSet.name).toBe('Kept')
  const rpcUrl = second.answer.chains[0]!.rpcUrl
  expect(await receiptBlock(rpcUrl, hash)).toBe(number)
})

it('prints one line of JSON, with addresses that answer', async () => {
  const program = await start(await newDirectory())
  const { answer, tenant } = program
  expect(Object.keys(answer).sort()).toEqual(['apiKey', 'chains', 'console', 'docs', 'entitySecret', 'url'])
  expect(answer.chains).toEqual([
    {
      blockchain: 'BASE-SEPOLIA',
      chainId: 84532,
      rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      tokens: {
        USDC: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        EURC: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      },
    },
  ])
  for (const url of [answer.docs, answer.console, `${answer.url}/sandbox`, `${answer.url}/openapi.json`])
    expect([url, (await fetch(url)).status]).toEqual([url, 200])
  expect((await tenant.http('GET', '/v1/w3s/walletSets')).status).toBe(200)
  expect(await rpcResult(answer.chains[0]!.rpcUrl, 'eth_chainId')).toBe('0x14a34')
  program.signal('SIGTERM', 'process')
  await program.exited
  expect(program.stdout()).toBe(`${JSON.stringify(answer)}\n`)
})

it('keeps nothing of an ephemeral start', async () => {
  const dataDir = await newDirectory()
  const first = await start(dataDir, ['--ephemeral'])
  const id = await newWalletSet(first)
  first.signal('SIGINT', 'group')
  expect(await first.exited).toEqual({ code: 0, signal: null })
  const second = await start(dataDir, ['--ephemeral'])
  expect((await second.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(404)
})

it('refuses a second sandbox on the same directory in one clear sentence, and does not disturb the first', async () => {
  const dataDir = await newDirectory()
  const first = await start(dataDir)
  const id = await newWalletSet(first)
  const before = await readFile(join(dataDir, 'root.key'), 'utf8')
  const second = spawnProgram({ dataDir, args: chains })
  expect(await second.exited).toEqual({ code: 1, signal: null })
  expect(second.stdout()).toBe('')
  expect(second.stderr()).toMatch(/in use by process \d+/)
  expect(second.stderr()).toMatch(/--data-dir/)
  expect(second.stderr()).not.toMatch(/\n\s+at /)
  expect((await first.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(200)
  expect(await readFile(join(dataDir, 'root.key'), 'utf8')).toBe(before)
})

it('starts again on what a kill -9 of everything left', async () => {
  const dataDir = await newDirectory()
  const first = await start(dataDir)
  const id = await newWalletSet(first)
  await first.killAll()
  const second = await start(dataDir)
  expect((await second.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(200)
})

it('starts again when only the program itself was killed, and ends what it left behind', async () => {
  const dataDir = await newDirectory()
  const first = await start(dataDir)
  const id = await newWalletSet(first)
  const tree = first.tree()
  first.signal('SIGKILL', 'process')
  await first.exited
  const second = await start(dataDir)
  expect((await second.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(200)
  const kept = new Set(second.tree())
  second.signal('SIGTERM', 'process')
  await second.exited
  await until(async () => ![...tree, ...kept].some(isRunning), 'nothing of either is left', stopWithinMs)
})

async function rpcResult<Result>(url: string, method: string, params: unknown[] = []): Promise<Result> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: Result }).result
}

async function mine(rpcUrl: string, from: string) {
  const hash = await rpcResult<string>(rpcUrl, 'eth_sendTransaction', [{ from, to: from, value: '0x1' }])
  let number: string | undefined
  await until(
    async () => (number = await receiptBlock(rpcUrl, hash)) !== undefined,
    'the transaction is mined',
  )
  return { hash, number }
}

const receiptBlock = async (rpcUrl: string, hash: string) =>
  (await rpcResult<{ blockNumber: string } | null>(rpcUrl, 'eth_getTransactionReceipt', [hash]))?.blockNumber

it('stops in time although a client holds its connection open in the middle of a request', async () => {
  const program = await start(await newDirectory(), ['--ephemeral'])
  const { hostname, port } = new URL(program.answer.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('POST /v1/paymentIntents HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
  socket.on('error', () => undefined)
  const startedMs = performance.now()
  program.signal('SIGTERM', 'process')
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - startedMs).toBeLessThan(stopWithinMs)
})

it('stops with the npm that started it, which passes no signal on', async () => {
  const dataDir = await newDirectory()
  const npm = spawn('npm', ['start', '--', '--json', '--port', '0', '--data-dir', dataDir, ...chains], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  let printed = ''
  npm.stdout.on('data', (chunk) => {
    printed += chunk
  })
  await until(async () => printed.includes('{'), 'it is ready', 60_000)
  const started = processesUnder(npm.pid!)
  expect(started.length).toBeGreaterThan(2)
  npm.kill('SIGTERM')
  await until(async () => !started.some(isRunning), 'all that npm started has ended', stopWithinMs)
})

it.each([
  [
    'a port that is taken',
    (port: number) => ({ args: ['--port', String(port)] }),
    /port \d+ is taken.*--port/,
  ],
  [
    'a database that is not there',
    () => ({ env: { DATABASE_URL: 'postgres://x:secret@127.0.0.1:1/z' } }),
    /127\.0\.0\.1:1.*DATABASE_URL/,
  ],
  ['a database of another kind', () => ({ env: { DATABASE_URL: 'mysql://a/b' } }), /DATABASE_URL must be/],
] as const)('ends over %s, and says what to do about it', async (_, settings, remedy) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const given: { args?: string[]; env?: Record<string, string> } = settings(
    (server.address() as AddressInfo).port,
  )
  const args = [...chains, '--ephemeral', ...(given.args ?? [])]
  const program = spawnProgram({ dataDir: await newDirectory(), ...given, args })
  expect(await program.exited).toEqual({ code: 1, signal: null })
  server.close()
  expect(program.stderr()).toMatch(remedy)
  expect(program.stderr()).not.toContain('secret')
})

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { sandboxApiKey } from '#sandbox/credentials'
import { builtConsole } from '#testing/pages/built-console'
import { rpc } from '#testing/platform/json-rpc'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import {
  isRunning,
  type Program,
  processesUnder,
  runProgram,
  spawnProgram,
  startProgram,
} from '#testing/processes/program'
import { initializedDirectory, programFile } from '#testing/processes/programs'
import { drawn, drawnTests } from '#testing/runner/drawn'
import { root } from '#testing/runner/root'
import { isDeep } from '#testing/runner/size'

const chains = ['--chains', 'BASE-SEPOLIA']
const options = [...chains, '--sca-core', 'circle_4337_v1']

/** A sandbox that tests pass on to each other: a start on an existing directory costs a third of a first one. */
let dataDir: string
let handedOn: Program | undefined

const cleanUps: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  dataDir = await initializedDirectory()
})
afterEach(async () => {
  for (const clean of cleanUps.splice(0).reverse()) await clean()
})
afterAll(async () => {
  await handedOn?.killAll()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

async function newDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bezant-process-'))
  cleanUps.push(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

/** The sandbox as the previous test left it; a test that does not pass it on must end it. */
async function take(): Promise<Program> {
  const program = handedOn ?? (await startProgram({ dataDir, args: options }))
  handedOn = undefined
  cleanUps.push(async () => {
    if (handedOn !== program) await program.killAll()
  })
  return program
}

async function startAgain(): Promise<Program> {
  handedOn = await startProgram({ dataDir, args: options })
  return handedOn
}

async function newWalletSet({ tenant }: Program): Promise<string> {
  const { body, text } = await tenant.http('POST', '/v1/w3s/developer/walletSets', {
    body: { idempotencyKey: randomUUID(), entitySecretCiphertext: await tenant.sealSecret(), name: 'Kept' },
  })
  expect(body?.data?.walletSet?.id, text).toBeTruthy()
  return body.data.walletSet.id
}

async function newAccount({ tenant }: Program, walletSetId: string) {
  const { body, text } = await tenant.http('POST', '/v1/w3s/developer/wallets', {
    body: {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      walletSetId,
      blockchains: ['BASE-SEPOLIA'],
      accountType: 'SCA',
    },
  })
  expect(body?.data?.wallets, text).toHaveLength(1)
  return body.data.wallets[0]
}

/** Opens a connection that stays in the middle of a request. */
async function holdConnection({ answer }: Program): Promise<void> {
  const { hostname, port } = new URL(answer.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('POST /v1/paymentIntents HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
  socket.on('error', () => undefined)
}

const ends = [
  ['SIGTERM', 'process'],
  ['SIGTERM', 'group'],
  ['SIGINT', 'group'],
  ['SIGINT', 'process'],
] as const

const drawnIt = drawnTests(4, 9)

it.each(drawn(ends, 1))(
  'stops on %s to the %s during a half-sent request, leaves no process and loses nothing',
  async (signal, to) => {
    const first = await take()
    const id = await newWalletSet(first)
    const [chain] = first.answer.chains
    const outsider = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
    const { hash, number } = await mine(chain!.rpcUrl, outsider)
    const tree = first.tree()
    expect(tree.length).toBeGreaterThan(3)
    await holdConnection(first)
    first.signal(signal, to)
    expect(await first.exited).toEqual({ code: 0, signal: null })
    await until(async () => !tree.some(isRunning), 'everything it started has ended')

    const second = await startAgain()
    const { body } = await second.tenant.http('GET', `/v1/w3s/walletSets/${id}`)
    expect(body.data.walletSet.name).toBe('Kept')
    const rpcUrl = second.answer.chains[0]!.rpcUrl
    expect(await receiptBlock(rpcUrl, hash)).toBe(number)
    expect(await newAccount(second, id)).toMatchObject({ accountType: 'SCA', scaCore: 'circle_4337_v1' })
  },
)

drawnIt('prints one line of JSON with URLs that answer', async () => {
  await builtConsole()
  const program = await take()
  const { answer, tenant } = program
  expect(Object.keys(answer).sort()).toEqual([
    'apiKey',
    'chains',
    'challengeUrl',
    'clientKey',
    'console',
    'docs',
    'entitySecret',
    'url',
  ])
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
  for (const url of [
    answer.docs,
    `${answer.docs}/reference`,
    answer.console,
    answer.challengeUrl,
    `${answer.url}/sandbox`,
    `${answer.url}/openapi.json`,
  ])
    expect([url, (await fetch(url)).status]).toEqual([url, 200])
  expect((await tenant.http('GET', '/v1/w3s/walletSets')).status).toBe(200)
  const stranger = await httpAs(answer.url, `TEST_API_KEY:${randomUUID()}:x`)('GET', '/v1/w3s/walletSets')
  expect([stranger.status, stranger.body.message]).toEqual([401, expect.stringContaining('GET /sandbox')])
  expect(await rpc(answer.chains[0]!.rpcUrl, 'eth_chainId')).toBe('0x14a34')
  program.signal('SIGTERM', 'process')
  await program.exited
  expect(program.stdout()).toBe(`${JSON.stringify(answer)}\n`)
})

drawnIt(
  'has credentials of its own when it is exposed, shows them to its terminal alone, and keeps them',
  async () => {
    const directory = await newDirectory()
    const first = await startProgram({ dataDir: directory, args: [...chains, '--expose'] })
    cleanUps.push(() => first.killAll())
    const { apiKey, url } = first.answer
    expect(apiKey).not.toBe(sandboxApiKey)
    expect((await first.tenant.http('GET', '/v1/w3s/walletSets')).status).toBe(200)
    for (const key of [undefined, sandboxApiKey])
      expect((await httpAs(url, key)('GET', '/v1/w3s/walletSets')).status).toBe(401)
    for (const path of [
      '/sandbox',
      '/sandbox/ciphertext',
      '/sandbox/mails',
      '/sandbox/chains',
      '/sandbox/clock',
      '/sandbox/catcher',
      '/sandbox/catcher/shop',
    ])
      expect((await fetch(url + path)).status).toBe(404)
    expect(await (await fetch(`${url}/docs/reference/static/swagger-initializer.js`)).text()).not.toContain(
      'API_KEY',
    )
    first.signal('SIGTERM', 'process')
    await first.exited
    const second = await startProgram({ dataDir: directory, args: chains })
    cleanUps.push(() => second.killAll())
    expect(second.answer.apiKey).toBe(apiKey)
  },
)

/** Makes temporary files in `directory`; the configured database is one that must not be used. */
const ephemeral = (directory: string) => ({
  args: [...chains, '--ephemeral'],
  env: { TMPDIR: directory, DATABASE_URL: 'postgresql://u@127.0.0.1:1/kept' },
})

/** Lists the files without the copy of PostgreSQL for unprivileged users, which every later start uses. */
const leftIn = async (directory: string) =>
  (await readdir(directory)).filter((name) => !name.includes('-pg-'))

/** Lists the same without directories, and without the links to paths that are too long for a socket. */
const filesIn = async (directory: string) => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => undefined)
  // A directory that goes while it is read is not gone yet.
  if (entries === undefined) return ['unread']
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('-pg-'))
    .map(({ name }) => name)
}

drawnIt('keeps nothing of an ephemeral start, and does not touch the database of DATABASE_URL', async () => {
  const directory = await newDirectory()
  const first = await startProgram(ephemeral(directory))
  cleanUps.push(() => first.killAll())
  await newWalletSet(first)
  first.signal('SIGINT', 'group')
  expect(await first.exited).toEqual({ code: 0, signal: null })
  expect(await leftIn(directory)).toEqual([])
})

drawnIt('leaves neither a process nor a file of an ephemeral sandbox when it is killed alone', async () => {
  const directory = await newDirectory()
  const program = await startProgram(ephemeral(directory))
  cleanUps.push(() => program.killAll())
  const tree = program.tree()
  program.signal('SIGKILL', 'process')
  await program.exited
  await until(async () => !tree.some(isRunning), 'everything it started has ended')
  await until(async () => (await filesIn(directory)).length === 0, 'its files are removed')
})

drawnIt('stops during its start, and leaves nothing', async () => {
  const directory = await newDirectory()
  const program = await spawnProgram(ephemeral(directory))
  await until(async () => (await leftIn(directory)).length > 0, 'it has begun to start')
  const tree = processesUnder(program.child.pid!)
  program.child.kill('SIGINT')
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect([program.stdout(), await leftIn(directory)]).toEqual(['', []])
  // The process that watches over it ends only when it sees that it has ended.
  await until(async () => !tree.some(isRunning), 'everything it started has ended')
})

drawnIt(
  'refuses a second sandbox on the same directory in one sentence, and does not disturb the first',
  async () => {
    const first = await take()
    const id = await newWalletSet(first)
    const before = await readFile(join(dataDir, 'root.key'), 'utf8')
    const second = await runProgram({ dataDir, args: chains })
    expect([second.code, second.stdout]).toEqual([1, ''])
    expect(second.stderr).toMatch(/in use by process \d+/)
    expect(second.stderr).toMatch(/--data-dir/)
    expect(second.stderr).not.toMatch(/\n\s+at /)
    expect((await first.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(200)
    expect(await readFile(join(dataDir, 'root.key'), 'utf8')).toBe(before)
    handedOn = first
  },
)

it('has a folder that git leaves out, and is recognised there by the doctor and by a second start', async () => {
  const folder = join(await newDirectory(), '.bezant')
  const program = await startProgram({ dataDir: folder, args: options })
  cleanUps.push(() => program.killAll())
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('*\n')
  const port = ['--port', new URL(program.answer.url).port]
  const { code, stdout } = await runProgram({
    command: 'doctor',
    dataDir: folder,
    args: [...port, '--json'],
  })
  expect([code, stdout]).toEqual([0, expect.stringContaining(`runs at ${program.answer.url}`)])
  const second = await runProgram({ dataDir: folder, args: [...options, ...port], banner: true })
  expect([second.code, second.stdout]).toEqual([1, ''])
  expect(second.stderr).toContain(`runs already: use it at ${program.answer.url}`)
  expect(second.stderr).not.toContain('Starting')
  const elsewhere = await runProgram({
    command: 'doctor',
    dataDir: join(folder, 'another'),
    args: [...port, '--json'],
  })
  expect([elsewhere.code, elsewhere.stdout]).toEqual([
    1,
    expect.stringContaining('is in use: stop the process'),
  ])
})

drawnIt('starts again after a kill -9 of all its processes', async () => {
  const first = await take()
  const id = await newWalletSet(first)
  await first.killAll()
  const second = await startAgain()
  expect((await second.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(200)
})

drawnIt(
  'starts again after a kill -9 of the program alone, and ends the processes that it left',
  async () => {
    const first = await take()
    const id = await newWalletSet(first)
    const tree = first.tree()
    first.signal('SIGKILL', 'process')
    await first.exited
    await until(async () => !tree.some(isRunning), 'the nodes and PostgreSQL end with it')
    const second = await startAgain()
    expect((await second.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(200)
    const kept = new Set(second.tree())
    handedOn = undefined
    second.signal('SIGTERM', 'process')
    await second.exited
    await until(async () => ![...tree, ...kept].some(isRunning), 'nothing of either is left')
  },
)

async function mine(rpcUrl: string, from: string) {
  const hash = await rpc<string>(rpcUrl, 'eth_sendTransaction', [{ from, to: from, value: '0x1' }])
  let number: string | undefined
  await until(
    async () => (number = await receiptBlock(rpcUrl, hash)) !== undefined,
    'the transaction is mined',
  )
  return { hash, number }
}

const receiptBlock = async (rpcUrl: string, hash: string) =>
  (await rpc<{ blockNumber: string } | null>(rpcUrl, 'eth_getTransactionReceipt', [hash]))?.blockNumber

/** A package whose `npm start` is that of the repository, with the compiled program instead of the loader and the sources. */
async function compiledPackage(): Promise<string> {
  const directory = await newDirectory()
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const [, options] = /^node --conditions=source --import tsx src\/main\.ts (.+)$/.exec(scripts.start)!
  const start = `node ${await programFile('bezant')} ${options}`
  await writeFile(join(directory, 'package.json'), JSON.stringify({ scripts: { start } }))
  return directory
}

drawnIt('stops with the npm that started it, although npm forwards no signal', async () => {
  await handedOn?.killAll()
  handedOn = undefined
  const npm = spawn('npm', ['start', '--', '--json', '--port', '0', '--data-dir', dataDir, ...chains], {
    cwd: isDeep ? root : await compiledPackage(),
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  let printed = ''
  npm.stdout.on('data', (chunk) => {
    printed += chunk
  })
  await until(async () => printed.includes('{'), 'it is ready')
  const started = processesUnder(npm.pid!)
  expect(started.length).toBeGreaterThan(2)
  npm.kill('SIGTERM')
  await until(async () => !started.some(isRunning), 'all that npm started has ended')
})

it.each([
  [
    'a port that is taken',
    (port: number) => ({ args: ['--port', String(port)] }),
    /port \d+ is in use.*--port/,
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
  await handedOn?.killAll()
  handedOn = undefined
  const args = [...chains, ...(given.args ?? [])]
  const { code, stderr } = await runCommand({ command: 'sandbox', dataDir, ...given, args })
  server.close()
  expect(code).toBe(1)
  expect(stderr).toMatch(remedy)
  expect(stderr).not.toContain('secret')
})

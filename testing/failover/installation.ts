/** An installation as `docs/operate.md` describes one: a database with its two users, several `serve` and `worker`, one entity. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestChain } from '#testing/platform/chain'
import { httpAs, seal, type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { quietPort } from '#testing/processes/quiet-port'

export type InstallationOptions = {
  /** The file of the compiled program. */
  program: string
  /** The administrator's connection to the database server. */
  adminUrl: string
  /** `DATABASE_URL` of the owner, and what the processes get beside the settings that all installations have. */
  ownerUrl: string
  environment: Record<string, string>
  chain: TestChain
  processes: { serve: number; worker: number }
  /** Statements of the administrator, after the roles and the database were made. */
  more?: string
}

type Role = 'serve' | 'worker'
type CommandResult = { code: number | null; output: string }

export type Installation = {
  /** The customer at each `serve`. */
  tenants: Tenant[]
  /** The addresses of each `serve` and each `worker`. */
  urls: Record<Role, string[]>
  /** Runs a command of the program to its end, on the first machine. */
  command(...args: string[]): Promise<CommandResult>
  /** The same with other settings. */
  commandWith(environment: Record<string, string>, ...args: string[]): Promise<CommandResult>
  /** Ends all processes of a role. */
  end(role: Role, signal: NodeJS.Signals): Promise<void>
  /** Starts all processes of a role, at their addresses and with their data directories. */
  begin(role: Role): Promise<void>
  /** The lines that all processes logged so far. */
  logged(): string
  close(): Promise<void>
}

/** The names that every installation of this folder has. */
export const databaseName = 'bezant'
export const roles = { owner: 'bezant', app: 'bezant_app' } as const

export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const home = mkdtempSync(join(tmpdir(), 'bezant-installation-'))
  let log = ''
  const secrets = { entitySecret: randomBytes(32).toString('hex') }
  const shared = {
    ...withoutDatabase(),
    BEZANT_ROOT_KEY: randomBytes(32).toString('hex'),
    BEZANT_NETWORKS: JSON.stringify([{ blockchain: options.chain.blockchain, rpcUrl: options.chain.rpcUrl }]),
    ...options.environment,
  }
  const start = (args: readonly string[], environment: Record<string, string>) =>
    spawn(process.execPath, [options.program, ...args], {
      env: { ...shared, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const commandWith: Installation['commandWith'] = async (environment, ...args) =>
    runToEnd(start(args, { BEZANT_DATA_DIR: join(home, 'serve0'), ...environment }))
  const command: Installation['command'] = (...args) => commandWith({}, ...args)
  const machines = await machinesOf(home, options.processes)
  const endAll = (ended: readonly Machine[], signal: NodeJS.Signals) =>
    Promise.all(ended.map((machine) => endMachine(machine, signal)))
  const close = async () => {
    await endAll(machines, 'SIGKILL')
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
  const of = (role: Role) => machines.filter((machine) => machine.role === role)
  const begin = async (role: Role) => {
    for (const machine of of(role)) {
      const { port, pagePort, dataDir } = machine
      const child = start([role, '--port', String(port)], {
        BEZANT_DATA_DIR: dataDir,
        BEZANT_PAGE_PORT: String(pagePort),
      })
      machine.child = child
      for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => void (log += chunk))
      await until(async () => {
        if (child.exitCode !== null) throw new Error(`${role} ended: ${log.slice(-4_000)}`)
        return isAnswered(`${urlOf(machine)}/ping`)
      }, `${role} at ${port} answers`)
    }
  }
  try {
    await makeDatabase(options)
    const owner = { DATABASE_URL: options.ownerUrl, BEZANT_DIRECT_DATABASE_URL: '' }
    succeeded(await commandWith({ ...owner, BEZANT_DATA_DIR: home }, 'migrate'))
    await begin('serve')
    await begin('worker')
    const urls = { serve: of('serve').map(urlOf), worker: of('worker').map(urlOf) }
    const named = ['--name', 'Failover', '--environment', 'TEST', '--json']
    const created = succeeded(await command('keys', 'create-entity', ...named))
    const { apiKey } = JSON.parse(created.split('\n')[0]!) as { apiKey: string }
    await register(urls.serve[0]!, apiKey, secrets.entitySecret)
    const tenants = urls.serve.map((url) => tenantOf(url, { entityId: '', apiKey, ...secrets }))
    const end: Installation['end'] = async (role, signal) => void (await endAll(of(role), signal))
    return { tenants, urls, command, commandWith, begin, end, logged: () => log, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A place in which one process runs: its ports and its data directory stay when the process is ended and begun again. */
type Machine = { role: Role; port: number; pagePort: number; dataDir: string; child?: ChildProcess }

const urlOf = ({ port }: Machine) => `http://127.0.0.1:${port}`

async function machinesOf(home: string, processes: InstallationOptions['processes']): Promise<Machine[]> {
  const machines: Machine[] = []
  for (const role of ['serve', 'worker'] as const)
    for (let index = 0; index < processes[role]; index++) {
      const dataDir = join(home, `${role}${index}`)
      mkdirSync(dataDir)
      machines.push({ role, port: await quietPort(), pagePort: await quietPort(), dataDir })
    }
  return machines
}

async function endMachine({ child }: Machine, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

function succeeded({ code, output }: CommandResult): string {
  if (code === 0) return output
  throw new Error(`a command ended with ${code}: ${output}`)
}

function withoutDatabase(): Record<string, string> {
  const { DATABASE_URL: _, ...own } = process.env as Record<string, string>
  return own
}

const isAnswered = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

async function makeDatabase({ adminUrl, more = '' }: InstallationOptions): Promise<void> {
  const client = new pg.Client(adminUrl)
  await client.connect()
  try {
    await client.query(`create role bezant_runtime nologin; create role ${roles.owner} login;
      create role ${roles.app} login; grant bezant_runtime to ${roles.owner}, ${roles.app}`)
    await client.query(`create database ${databaseName} owner ${roles.owner}`)
    if (more !== '') await client.query(more)
  } finally {
    await client.end()
  }
}

async function register(url: string, apiKey: string, entitySecret: string): Promise<void> {
  const http = httpAs(url, apiKey)
  const { body } = await http('GET', '/v1/w3s/config/entity/publicKey')
  const entitySecretCiphertext = seal(body.data.publicKey, Buffer.from(entitySecret, 'hex'))
  const answer = await http('POST', '/v1/w3s/config/entity/entitySecret', {
    body: { entitySecretCiphertext },
  })
  if (answer.status >= 300) throw new Error(`registering the entity secret: ${answer.text}`)
}

async function runToEnd(child: ChildProcess) {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

/** Makes wallets on the chain of the installation, and gives each coins, until the API shows them. */
export async function fundedWallets(
  tenant: Tenant,
  chain: TestChain,
  count: number,
): Promise<{ id: string; address: string }[]> {
  const post = async (path: string, body: object) => {
    const entitySecretCiphertext = await tenant.sealSecret()
    const answer = await tenant.http('POST', path, {
      body: { idempotencyKey: randomUUID(), entitySecretCiphertext, ...body },
    })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    return answer.body.data
  }
  const { walletSet } = await post('/v1/w3s/developer/walletSets', { name: 'Failover' })
  const { wallets } = (await post('/v1/w3s/developer/wallets', {
    walletSetId: walletSet.id,
    blockchains: [chain.blockchain],
    count,
  })) as { wallets: { id: string; address: string }[] }
  for (const { address } of wallets) {
    await chain.send(address, 10n ** 19n)
    await chain.send(address, 10n ** 9n, 'USDC')
  }
  for (const { id } of wallets)
    await until(async () => {
      await chain.mine()
      const { body } = await tenant.http('GET', `/v1/w3s/wallets/${id}/balances`)
      return body?.data?.tokenBalances.length >= 2
    }, 'the wallet shows what it was given')
  return wallets
}

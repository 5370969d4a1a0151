import { readFile } from 'node:fs/promises'
import { type Ask, askAt, type CallMethod } from './ask.ts'
import { serverOfRun } from './environment.ts'
import { type CatcherHandle, catcherOf } from './handles/catcher.ts'
import { type ChainHandle, chainOf, type TestCoin, type TestTransaction } from './handles/chain.ts'
import { type ClockHandle, clockOf } from './handles/clock.ts'
import { type FaultPlanInput, type FaultsHandle, faultsOf, planText } from './handles/faults.ts'
import { type OperatorHandles, operatorOf } from './handles/operator.ts'
import { type SnapshotsHandle, snapshotsOf } from './handles/snapshots.ts'
import { type InstanceLink, lostServer, openInstance } from './instance-link.ts'
import type { InstanceAnswer } from './protocol.ts'
import { type ServerProcess, startServer } from './server-process.ts'

export type TestSandboxOptions = {
  /** The chains to start. Default: BASE-SEPOLIA. Each takes about 20 MB and a fifth of a second. */
  blockchains?: readonly string[]
  /** Mines a block at this interval instead of one for each transaction. */
  blockTimeMs?: number
  /** The file of an exported snapshot to begin with; `.snapshot` at its end may be left out. */
  snapshot?: string
  /** The faults to begin with: a plan, or the file of one. */
  faults?: FaultPlanInput | string
  /** Decides all chances of faults, in place of the seed of a plan. */
  seed?: number
  /** Settings of docs/settings.md, such as `{ BEZANT_RECIPIENT_HOLD_HOURS: '24' }`. */
  settings?: Readonly<Record<string, string>>
}

/** An isolated running sandbox: its own database, chains, ports and clock. */
export type TestSandbox = Omit<InstanceAnswer, 'path' | 'chains'> &
  OperatorHandles & {
    /** Asks the API with the key of the sandbox, and returns the content of `data`; a refusal is a `SandboxError`. */
    // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
    call<Data = any>(method: CallMethod, path: string, body?: object): Promise<Data>
    /** A ciphertext of the entity secret, which works in one request. */
    ciphertext(): Promise<string>
    /** One of its chains; without a name the first. */
    chain(blockchain?: string): ChainHandle
    clock: ClockHandle
    faults: FaultsHandle
    snapshots: SnapshotsHandle
    catcher: CatcherHandle
    /** Pays test coins to an address, without limit; mined when this resolves. */
    faucet(
      address: string,
      amount: string,
      options?: { token?: TestCoin; blockchain?: string },
    ): Promise<TestTransaction>
    /** Makes something happen by the operations that lead to it, such as `payment.paid`: `bezant trigger --list` lists what. */
    trigger(event: string, set?: Readonly<Record<string, string>>): Promise<TriggeredEvent>
    /** Ends it. With `report`, prints before how to repeat the run: the seed and the faults that were met. */
    stop(options?: { report?: boolean }): Promise<void>
  }

type TriggeredEvent = {
  event: string
  seed: string
  made: { kind: string; id: string }[]
  notifications: { id: string; line: string; topic: string; resourceId: string }[]
}

/**
 * Starts a sandbox for tests: on the server of the run, where a set-up started one, else on a server of this process, which ends with the
 * last sandbox on it.
 */
export async function startTestSandbox(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  requireKnown(options)
  const { blockchains = ['BASE-SEPOLIA'], blockTimeMs, seed, settings, snapshot } = options
  const faults = await planOf(options)
  const server = await joinServer()
  try {
    const wanted = { blockchains, blockTimeMs, seed, settings, faults }
    const link = await openInstance(server.url, wanted)
    const sandbox = sandboxOn(link, seed, server.leave)
    if (snapshot === undefined) return sandbox
    return await begunWith(sandbox, snapshot).catch(async (error) => {
      await sandbox.stop()
      throw error
    })
  } catch (error) {
    await server.leave()
    throw error
  }
}

const known: Record<keyof TestSandboxOptions, true> = {
  blockchains: true,
  blockTimeMs: true,
  snapshot: true,
  faults: true,
  seed: true,
  settings: true,
}

function requireKnown(options: TestSandboxOptions): void {
  const stranger = Object.keys(options).find((name) => !(name in known))
  if (stranger !== undefined)
    throw new Error(`startSandbox has no option ${stranger}: it has ${Object.keys(known).join(', ')}`)
  const { blockchains, blockTimeMs, seed } = options
  if (blockchains !== undefined && blockchains.length === 0)
    throw new Error('startSandbox: blockchains is empty: name at least one, such as BASE-SEPOLIA')
  if (seed !== undefined && !(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32))
    throw new Error(`startSandbox: seed must be a whole number from 0 to ${2 ** 32 - 1}, not ${seed}`)
  if (blockTimeMs !== undefined && !(blockTimeMs >= 100 && blockTimeMs <= 3_600_000))
    throw new Error(`startSandbox: blockTimeMs must be from 100 to 3600000, not ${blockTimeMs}`)
}

async function planOf({ faults }: TestSandboxOptions): Promise<string | undefined> {
  if (typeof faults !== 'string') return faults && planText(faults)
  return readFile(faults, 'utf8').catch((error: Error) => {
    throw new Error(`startSandbox: the file of faults cannot be read: ${error.message}`)
  })
}

async function begunWith(sandbox: TestSandbox, snapshot: string): Promise<TestSandbox> {
  const name = 'begun-with'
  const { snapshots } = sandbox
  const load = (file: string) => snapshots.import(name, file)
  await load(snapshot)
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return load(`${snapshot}.snapshot`)
    })
    .catch((error: NodeJS.ErrnoException) => {
      const remedy = 'name a file that snapshots.export, or bezant sandbox snapshot export, has written'
      const reason = error.code === 'ENOENT' ? `there is no file ${snapshot}: ${remedy}` : error.message
      throw new Error(`startSandbox: snapshot: ${reason}`)
    })
  await snapshots.restore(name)
  await snapshots.delete(name)
  return sandbox
}

type JoinedServer = { url: string; leave(): Promise<void> }

let own: { server: Promise<ServerProcess>; users: number } | undefined

async function joinServer(): Promise<JoinedServer> {
  const url = serverOfRun()
  if (url !== undefined) return { url, leave: async () => undefined }
  const joined = (own ??= { server: startServer(), users: 0 })
  joined.users++
  let isIn = true
  const leave = async () => {
    if (!isIn) return
    isIn = false
    joined.users--
    if (joined.users > 0) return
    if (own === joined) own = undefined
    await joined.server.then(
      (server) => server.stop(),
      () => undefined,
    )
  }
  return joined.server.then(
    (server) => ({ url: server.url, leave }),
    async (error) => {
      await leave()
      throw error
    },
  )
}

function sandboxOn(link: InstanceLink, seed: number | undefined, leave: () => Promise<void>): TestSandbox {
  const { path: _, chains, ...answer } = link.answer
  let isStopped = false
  const why = () => {
    if (isStopped) return 'the sandbox was stopped'
    return link.isLost() ? lostServer : undefined
  }
  const ask = askAt(answer.url, answer.apiKey, why)
  const handles = chains.map((chain) => chainOf(ask, chain))
  const faults = faultsOf(ask, seed)
  const chain = (name: string = handles[0]!.blockchain) => {
    const found = handles.find(({ blockchain }) => blockchain === name)
    if (found) return found
    const names = handles.map(({ blockchain }) => blockchain).join(', ')
    throw new Error(
      `this sandbox has no chain ${name}, only ${names}: name it in blockchains of startSandbox`,
    )
  }
  return {
    ...answer,
    ...operatorOf(ask),
    call: ask.api,
    ciphertext: async () =>
      (await ask.lab<{ entitySecretCiphertext: string }>('GET', '/sandbox/ciphertext'))
        .entitySecretCiphertext,
    chain,
    clock: clockOf(ask),
    faults,
    snapshots: snapshotsOf(ask),
    catcher: catcherOf(ask, answer.url),
    faucet: (address, amount, { token = 'USDC', blockchain } = {}) =>
      ask.lab('POST', '/sandbox/faucet', {
        address,
        amount,
        token,
        blockchain: chain(blockchain).blockchain,
      }),
    trigger: (event, set) => ask.lab('POST', '/sandbox/triggers', { event, ...(set && { set }) }),
    stop: async ({ report = false } = {}) => {
      if (isStopped) return
      if (report) await printReport(ask)
      isStopped = true
      await link.close()
      await leave()
    },
  }
}

/** Prints the plan by which the same faults are met again. */
async function printReport(ask: Ask): Promise<void> {
  const { plan } = await ask.lab<{ plan?: { seed: number } }>('GET', '/sandbox/faults')
  if (!plan) return void process.stderr.write('The sandbox had no faults.\n')
  const replay = await ask.lab<{ rules: object[] }>('GET', '/sandbox/faults/replay')
  const met =
    replay.rules.length === 0
      ? 'None was met.'
      : `This plan meets just those that were met:\n${JSON.stringify(replay)}`
  process.stderr.write(`The faults of the sandbox had the seed ${plan.seed}. ${met}\n`)
}

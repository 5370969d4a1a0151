/**
 * Machines with a worker and a journal each, on one chain, and copies of their database that replace it. API and indexer
 * run in the process of the test: they keep no state outside of the database.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject } from 'vitest'
import type { Blockchain } from '#chains/blockchains'
import { type ContextInput, openContext, startApi } from '#context'
import { startIndexer } from '#engines/indexer/index'
import { readConfig } from '#runtime/config'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import type { SeededRandom } from '#testing/adversary/seeded-random'
import { freshAddress } from '#testing/builders/world'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { testLog } from '#testing/platform/log'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import type { WorkerOptions } from '#testing/processes/worker-process'
import { isDeep } from '#testing/runner/size'
import { type Clone, cloneOf } from './database-clone.ts'
import { testRootKey } from './template.ts'

/** Cleanup steps of a test, last first. */
export const cleanups: (() => Promise<unknown>)[] = []
/** Runs the cleanup steps; for `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const step of cleanups.splice(0).reverse()) await step()
}

/** `body` is the original request, to be repeated. */
export type SubmittedTransfer = { to: string; amountAtomic: bigint; id: string; body: object }
export type Wallet = { id: string; address: string }

type OpenOptions = Partial<Pick<WorkerOptions, 'failpoint' | 'logLevel' | 'roles'>>

type SiteOptions = { automine?: boolean; others?: readonly Blockchain[] }

/** Two machines, each with its own directory, on one chain, and on `others` that messages connect with it. */
export async function openTwoMachines(
  random: SeededRandom,
  { automine = false, others = [] }: SiteOptions = {},
) {
  const local = await startTestChains({
    blockchains: ['BASE-SEPOLIA', ...others],
    blockTimeMs: automine ? undefined : random.pick(isDeep ? [100, 250, 600] : [250, 600]),
  })
  cleanups.push(local.stop)
  const home = await mkdtemp(join(tmpdir(), 'bezant-restore-'))
  cleanups.push(() => rm(home, { recursive: true, force: true }))
  const chain = local.chains[0]!
  const running = new Set<Worker>()
  /** Closed workers, ready to be opened again. */
  const idle: Worker[] = []
  cleanups.push(async () => {
    for (const worker of [...running, ...idle]) worker.signal('SIGKILL')
  })
  const { rpcUrl, blockchain } = chain
  const further = local.chains.slice(1).map((each) => ({ blockchain: each.blockchain, rpcUrl: each.rpcUrl }))
  let closeFront: () => Promise<unknown> = async () => undefined
  const nodes = [{ blockchain, rpcUrl }, ...further].map((node) => ({ ...node, local: true }))
  const front = async (clone: Clone): Promise<Tenant> => {
    const { tenant, close } = await openFront(clone, nodes, join(home, 'front'))
    closeFront = async () => {
      closeFront = async () => undefined
      await close()
    }
    cleanups.push(() => closeFront())
    return tenant
  }
  const open = async (clone: Clone, machine: string, options: OpenOptions = {}): Promise<Worker> => {
    const worker = idle.pop() ?? (await spawnWorker())
    running.add(worker)
    await worker.open({
      connection: clone.connection,
      rpcUrl,
      blockchain,
      others: further,
      dataDir: join(home, machine),
      roles: ['transactions'],
      ...options,
    })
    await worker.start()
    return worker
  }
  const killAll = async () => {
    for (const worker of running) worker.signal('SIGKILL')
    await Promise.all([...running].map((worker) => worker.exited))
    running.clear()
    await closeFront()
  }
  const closeWorkers = () => Promise.all([...running].map(close))
  const closeAll = async () => {
    await closeWorkers()
    await closeFront()
  }
  const close = async (worker: Worker) => {
    running.delete(worker)
    if (worker.state() === 'dead') return
    await worker.close()
    idle.push(worker)
  }
  return { chain, chains: local.chains, home, front, open, close, closeWorkers, killAll, closeAll }
}

/** Serves the API and indexes the chains on the database of a clone, in this process. */
async function openFront({ connection }: Clone, nodes: ContextInput['nodes'], dataDir: string) {
  const settings = { port: 0, databaseConnectionsMax: 6, dataDir, logLevel: 'fatal' }
  const log = testLog('fatal')
  const config = readConfig(settings, {})
  const context = await openContext({ config, log, connection, rootKey: testRootKey, nodes })
  const indexer = startIndexer(context.ctx)
  const api = await startApi(context.ctx)
  const close = async () => {
    await Promise.all([api.stop(), indexer.stop()])
    await context.close()
  }
  return { tenant: tenantOf(api.url, credentials), close }
}

const credentials = {
  entityId: sandboxEntity.id,
  apiKey: sandboxApiKey,
  entitySecret: sandboxEntitySecret,
}

/** A separate copy of another database's current content. */
export async function copyOf(name: string): Promise<Clone> {
  const clone = await cloneOf(inject('runServer'), name)
  cleanups.push(clone.drop)
  return clone
}

async function post(tenant: Tenant, path: string, body: object) {
  const answer = await ask(tenant, path, { idempotencyKey: randomUUID(), ...body })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data
}

const ask = async (tenant: Tenant, path: string, body: object) =>
  tenant.http('POST', path, { body: { entitySecretCiphertext: await tenant.sealSecret(), ...body } })

/** Repeats the same request with the same key. */
export async function repeat(
  tenant: Tenant,
  { body }: SubmittedTransfer,
): Promise<{ status: number; id: string }> {
  const answer = await ask(tenant, transferPath, body)
  expect([200, 201], answer.text).toContain(answer.status)
  return { status: answer.status, id: answer.body.data.id }
}

const transferPath = '/v1/w3s/developer/transactions/transfer'

export async function fundedWallets(tenant: Tenant, chain: TestChain): Promise<Wallet[]> {
  const { walletSet } = await post(tenant, '/v1/w3s/developer/walletSets', { name: 'Restored' })
  const made = { walletSetId: walletSet.id, blockchains: ['BASE-SEPOLIA'], count: 2 }
  const { wallets } = (await post(tenant, '/v1/w3s/developer/wallets', made)) as { wallets: Wallet[] }
  for (const { id, address } of wallets) {
    await chain.send(address, 10n ** 19n)
    await chain.send(address, 10n ** 9n, 'USDC')
    await until(async () => {
      const { body } = await tenant.http('GET', `/v1/w3s/wallets/${id}/balances`)
      return body.data.tokenBalances.length >= 2
    }, 'the wallet shows what it was given')
  }
  return wallets
}

let amounts = 0
export async function submit(tenant: Tenant, chain: TestChain, wallet: Wallet): Promise<SubmittedTransfer> {
  const [to, amountAtomic] = [freshAddress(), BigInt(++amounts)]
  const body = {
    idempotencyKey: randomUUID(),
    walletId: wallet.id,
    tokenAddress: chain.tokens.USDC,
    blockchain: 'BASE-SEPOLIA',
    destinationAddress: to,
    amounts: [`0.${String(amountAtomic).padStart(6, '0')}`],
    feeLevel: 'MEDIUM',
  }
  const { id } = await post(tenant, transferPath, body)
  return { to, amountAtomic, id, body }
}

export async function submitSome(
  tenant: Tenant,
  chain: TestChain,
  wallets: Wallet[],
  count: number,
  random: SeededRandom,
) {
  const orders: SubmittedTransfer[] = []
  for (let index = 0; index < count; index++) {
    orders.push(await submit(tenant, chain, random.pick(wallets)))
    if (random.oneIn(4)) await sleep(random.below(120))
  }
  return orders
}

/** Processes that die while several attesters sign: the one that asks, and the one that is asked. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { confirmedThreshold } from '#chains/crosschain/message'
import { startIndexer } from '#engines/indexer/index'
import type { Database } from '#runtime/db/db'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { openAttester, setAttesters, type TestAttester } from '#testing/builders/attesters'
import { type CrosschainMessages, crosschainMessages, type Hex } from '#testing/builders/burns'
import { freshAddress } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import type { WorkerOptions } from '#testing/processes/worker-process'

let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
let attester: TestAttester
let indexer: { stop(): Promise<void> } | undefined
const workers: Worker[] = []
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  const nodes = harness.chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl, local: true }))
  attester = await openAttester({ nodes })
  await setAttesters(harness, [attester])
  await harness.stopEngines()
  await attester.stop()
  indexer = startIndexer(harness.ctx)
})
afterEach(() => {
  for (const worker of workers.splice(0)) worker.signal('SIGKILL')
})
afterAll(async () => {
  await indexer?.stop()
  await harness?.close()
  await attester?.close()
})

async function start(
  options: Omit<WorkerOptions, 'blockchain' | 'rpcUrl'>,
  point?: Failpoint,
): Promise<Worker> {
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({
    blockchain: base.blockchain,
    rpcUrl: base.rpcUrl,
    others: [avalanche],
    failpoint: point && { point, hit: 1, action: 'kill' },
    ...options,
  })
  await worker.start()
  return worker
}

/** The process that asks. */
const startAsking = (point?: Failpoint) => {
  const settings = { attesters: [attester.setting], attestationThreshold: 2 }
  return start({ connection: harness.connection, roles: ['attestation'], settings }, point)
}

/** The process that is asked. */
const startAttester = (point?: Failpoint) => {
  const { connection, rootKey, dataDir, ctx } = attester
  const settings = { port: ctx.config.port }
  const options = { connection, dataDir, settings, rootKeyHex: rootKey.toString('hex') }
  return start({ ...options, roles: ['attester'] }, point)
}

const signaturesOf = async (database: Database, nonce: string) =>
  (
    await database.one<{ count: number }>(
      sql`select count(*)::integer as count from attestation_signatures where subject = ${nonce}`,
    )
  ).count

async function provesOnce(hash: Hex, to: Hex): Promise<void> {
  const message = await messages.attested(base, hash)
  const { eventNonce } = message
  expect(await signaturesOf(harness.database, eventNonce)).toBe(1)
  expect(await signaturesOf(attester.database, eventNonce)).toBe(1)
  expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  expect((await messages.deliver(avalanche, message)).ok).toBe(false)
  expect(await messages.usdcOf(avalanche, to)).toBe(9_999_000n)
  const open = await harness.database.one<{ count: number }>(
    sql`select count(*)::integer as count from message_proposals`,
  )
  expect(open.count).toBe(0)
  expect((await messages.get('/v2/fastBurn/USDC/allowance')).body.allowance).toBe(1_000_000)
}

const burn = (to: Hex) =>
  messages.burn(base, avalanche, { to, maxFee: 1_000n, threshold: confirmedThreshold })

it.each([
  'before-message-commit',
  'after-message-commit',
  'before-signature-record',
  'after-signature-record',
  'before-completion-commit',
  'after-completion-commit',
] as const)(
  'property 94: a burn is attested once although the process that asks dies at %s',
  async (point) => {
    const to = freshAddress() as Hex
    await startAttester()
    const worker = await startAsking(point)
    const hash = await burn(to)
    await worker.exited
    await startAsking()
    await provesOnce(hash, to)
  },
)

it.each(['before-request-commit', 'after-request-commit'] as const)(
  'property 94: a burn is attested once although the attester that is asked dies at %s',
  async (point) => {
    const to = freshAddress() as Hex
    await startAsking()
    const worker = await startAttester(point)
    const hash = await burn(to)
    await worker.exited
    await startAttester()
    await provesOnce(hash, to)
  },
)

it('property 94: three processes ask for and complete each of ten burns once', async () => {
  const to = freshAddress() as Hex
  await startAttester()
  await Promise.all([startAsking(), startAsking(), startAsking()])
  const hashes: Hex[] = []
  for (let count = 0; count < 10; count++) hashes.push(await burn(to))
  for (const hash of hashes) {
    const message = await messages.attested(base, hash)
    expect(await signaturesOf(harness.database, message.eventNonce)).toBe(1)
    expect(await signaturesOf(attester.database, message.eventNonce)).toBe(1)
    expect((await messages.deliver(avalanche, message)).ok).toBe(true)
  }
  expect(await messages.usdcOf(avalanche, to)).toBe(99_990_000n)
})

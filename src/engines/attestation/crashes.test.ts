/** Processes that die around the commits that attest and deliver, and several that do it at once. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { confirmedThreshold } from '#chains/crosschain/message'
import { startIndexer } from '#engines/indexer/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journaledResources } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { type CrosschainMessages, crosschainMessages, type Hex } from '#testing/builders/burns'
import { freshAddress } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { sizeOf } from '#testing/runner/size'

const burnsAtOnce = sizeOf('ATTESTED_BURNS', { usual: 20, deep: 200 })

let harness: Harness
let messages: CrosschainMessages
let base: TestChain
let avalanche: TestChain
let engines: { stop(): Promise<void> }[] = []
const workers: Worker[] = []

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  messages = crosschainMessages(harness)
  base = harness.chain('BASE-SEPOLIA')
  avalanche = harness.chain('AVAX-FUJI')
  await harness.stopEngines()
  engines = [startIndexer(harness.ctx), startTransactionWorker(harness.ctx, journaledResources)]
})
afterEach(() => {
  for (const worker of workers.splice(0)) worker.signal('SIGKILL')
})
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.stop()))
  await harness?.close()
})

async function start(point?: Failpoint): Promise<Worker> {
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({
    connection: harness.connection,
    blockchain: base.blockchain,
    rpcUrl: base.rpcUrl,
    others: [avalanche],
    roles: ['attestation'],
    failpoint: point && { point, hit: 1, action: 'kill' },
  })
  await worker.start()
  return worker
}

const signaturesOf = async (nonce: string) =>
  (
    await harness.database.one<{ count: number }>(
      sql`select count(*)::integer as count from attestation_signatures where subject = ${nonce}`,
    )
  ).count

const deliveriesOf = async (nonce: string) =>
  (
    await harness.database.one<{ count: number }>(
      sql`select count(*)::integer as count from transactions where ref_id = ${`message ${nonce}`}`,
    )
  ).count

it.each(['before-cursor-advance', 'before-message-commit', 'after-message-commit'] as const)(
  'property 103: a burn is attested once although its process dies at %s',
  async (point) => {
    const to = freshAddress() as Hex
    const worker = await start(point)
    const hash = await messages.burn(base, avalanche, { to, maxFee: 1_000n, threshold: confirmedThreshold })
    await worker.exited
    await start()
    const message = await messages.attested(base, hash)
    expect(await signaturesOf(message.eventNonce)).toBe(1)
    expect((await messages.deliver(avalanche, message)).ok).toBe(true)
    expect(await messages.usdcOf(avalanche, to)).toBe(9_999_000n)
    expect((await messages.get('/v2/fastBurn/USDC/allowance')).body.allowance).toBe(1_000_000)
  },
)

it.each(['before-forward-commit', 'after-forward-commit'] as const)(
  'property 103: a message is delivered by one transaction although its process dies at %s',
  async (point) => {
    const to = freshAddress() as Hex
    const worker = await start(point)
    const hash = await messages.burn(base, avalanche, { to, maxFee: 200_000n, hookData: forwardHookData })
    await worker.exited
    await start()
    const done = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
    expect(await deliveriesOf(done.eventNonce)).toBe(1)
    expect(await messages.usdcOf(avalanche, to)).toBe(9_800_000n)
  },
)

it(`property 103: three processes attest and deliver each of ${burnsAtOnce} burns once`, async () => {
  const to = freshAddress() as Hex
  await Promise.all([start(), start(), start()])
  const hashes: Hex[] = []
  for (let count = 0; count < burnsAtOnce; count++)
    hashes.push(await messages.burn(base, avalanche, { to, maxFee: 200_000n, hookData: forwardHookData }))
  const nonces: string[] = []
  for (const hash of hashes) {
    const done = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
    nonces.push(done.eventNonce)
    expect([await signaturesOf(done.eventNonce), await deliveriesOf(done.eventNonce)]).toEqual([1, 1])
  }
  expect(new Set(nonces).size).toBe(burnsAtOnce)
  expect(await messages.usdcOf(avalanche, to)).toBe(BigInt(burnsAtOnce) * 9_800_000n)
})

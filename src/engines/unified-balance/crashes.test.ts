import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journaledResources } from '#engines/treasury/index'
import { insertWebhookSubscription } from '#engines/webhooks/store/webhook-subscriptions'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import {
  intentOf,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
} from '#testing/builders/unified-balances'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import type { Role } from '#testing/processes/worker-process'

/* Processes that die around the commits that reserve, sign and burn. Transfers within the chain have the same steps. */
let harness: Harness
let unified: UnifiedBalances
let engines: { stop(): Promise<void> }[] = []
const workers: Worker[] = []
const [alice] = people as unknown as [(typeof people)[0]]

beforeAll(async () => {
  harness = await openHarness()
  unified = unifiedBalances(harness)
  await unified.fund(harness.chain(), alice.address, 100_000_000n, '100')
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

async function start(role: Role, point?: Failpoint): Promise<{ worker: Worker; url: string | undefined }> {
  const { blockchain, rpcUrl } = harness.chain()
  const worker = await spawnWorker()
  workers.push(worker)
  const failpoint = point && ({ point, hit: 1, action: 'kill' } as const)
  await worker.open({ connection: harness.connection, rpcUrl, blockchain, roles: [role], failpoint })
  return { worker, url: await worker.start() }
}

const signed = async () => [
  await signedIntent(alice, intentOf(specOf(harness.chain(), harness.chain(), alice.address))),
]
const available = async () =>
  (
    await harness.database.one<{ available: bigint }>(
      sql`select available from unified_balances where depositor = ${alice.address.toLowerCase()}`,
    )
  ).available

it.each(['before-attestation-commit', 'after-attestation-commit'] as const)(
  'property 109: a server that dies at %s attests and reserves once',
  async (point) => {
    const body = await signed()
    const before = await available()
    const { worker, url } = await start('api', point)
    await expect(httpAs(url!, undefined)('POST', '/v1/transfer', { body })).rejects.toThrow()
    await worker.exited
    const reserved = before - (await available())
    expect(reserved).toBe(point === 'before-attestation-commit' ? 0n : 1_010_000n)
    const again = await unified.transfer(body)
    expect([again.status, before - (await available())]).toEqual([201, 1_010_000n])
    await unified.mint(harness.chain(), again.body)
  },
)

it.each(['before-burn-commit', 'after-burn-commit', 'before-cursor-advance'] as const)(
  'property 109: a worker that dies at %s burns once',
  async (point) => {
    const { body } = await unified.transfer(await signed())
    const supply = await unified.supply(harness.chain())
    await unified.mint(harness.chain(), body)
    expect(await unified.supply(harness.chain())).toBe(supply + 1_000_000n)
    const { worker } = await start('unified-balance', point)
    await worker.exited
    await start('unified-balance')
    await until(async () => {
      const { open } = await harness.database.one<{
        open: number
      }>(sql`select count(*) as open from unified_intents i
        where state = 'reserved' and exists (select 1 from unified_mints m where m.spec_hash = i.spec_hash)`)
      const { done } = await harness.database.one<{ done: number }>(
        sql`select count(*) as done from unified_intents where transfer_id = ${body.transferId} and state = 'burned'`,
      )
      return Number(open) === 0 && Number(done) === 1
    }, 'all is burned')
    const { burns } = await harness.database.one<{
      burns: number
    }>(sql`select count(*) as burns from unified_movements m
      join unified_intents i on i.spec_hash = m.spec_hash where i.transfer_id = ${body.transferId}`)
    expect(Number(burns)).toBe(1)
    const inContract = await unified.read(
      harness.chain(),
      '0x0077777d7EBA4688BDeF3E311b846F25870A19B9',
      'availableBalance',
      [harness.chain().tokens.USDC, alice.address],
    )
    expect(inContract).toBe(await available())
  },
)

it('property 247: a worker that dies before a step is done tells of its deposit once', async () => {
  const { entityId } = harness
  await insertWebhookSubscription(
    harness.database,
    {
      entityId,
      id: randomUUID(),
      name: 'watching',
      endpoint: 'https://merchant.example',
      enabled: true,
      notificationTypes: ['gateway.*'],
      addresses: [alice.address.toLowerCase()],
      domains: [6],
      failingSince: null,
      droppedCount: 0,
      droppedDate: null,
      createDate: new Date().toISOString(),
      updateDate: new Date().toISOString(),
    },
    'TEST',
  )
  const before = await available()
  await unified.pay(harness.chain(), alice.address, 2_000_000n)
  const { worker } = await start('unified-balance', 'before-cursor-advance')
  await worker.exited
  await start('unified-balance')
  await until(async () => (await available()) === before + 2_000_000n, 'the deposit counts')
  const told = await harness.database.all(sql`select e.type from gateway_events g
    join events e on e.entity_id = g.entity_id and e.resource_id = g.id::text
    join queued_events q on q.entity_id = e.entity_id and q.id = e.id where g.kind = 'deposit.finalized'`)
  expect(told).toEqual([{ type: 'gatewayEvent.raised' }])
})

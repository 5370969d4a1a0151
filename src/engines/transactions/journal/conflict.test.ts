/**
 * A journal that was declared lost is found again after its requests were repeated: what happened twice is named, because
 * nothing can undo it.
 */
import { afterEach, expect, it } from 'vitest'
import { openDatabase } from '#runtime/db/db'
import { seededRandom } from '#testing/adversary/seeded-random'
import {
  cleanUp,
  cleanups,
  copyOf,
  fundedWallets,
  openTwoMachines,
  repeat,
  submit,
} from '#testing/databases/restored-database'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { declareJournalLost, listWorkerJournals } from './index.ts'

afterEach(cleanUp)

const reaches = (tenant: Tenant, id: string, states: readonly string[]) =>
  until(async () => {
    const { body } = await tenant.http('GET', `/v1/w3s/transactions/${id}`)
    return states.includes(body.data?.transaction.state)
  }, `${id} is ${states.join()}`)

it('property 30: a request that was executed twice, because a journal was declared lost, raises an alarm', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const first = await copyOf('seeded')
  const before = await site.front(first)
  await site.open(first, 'one')
  const [wallet] = await fundedWallets(before, site.chain)
  await site.closeAll()
  const restored = await copyOf(first.name)
  const tenant = await site.front(first)
  await site.open(first, 'one')
  const order = await submit(tenant, site.chain, wallet!)
  await reaches(tenant, order.id, ['COMPLETE'])
  await site.killAll()

  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  const later = await site.front(restored)
  await site.open(restored, 'two')
  const awaited = async () => (await listWorkerJournals(database)).filter((each) => each.awaited)
  await until(async () => (await awaited()).length === 1, 'the journal is waited for')
  expect(await declareJournalLost(database, Date.now(), (await awaited())[0]!.id)).toBe(true)
  const twin = await repeat(later, order)
  expect(twin.status).toBe(201)
  await reaches(later, twin.id, ['QUEUED', 'SENT', 'CONFIRMED', 'COMPLETE'])
  const found = await site.open(restored, 'one', { logLevel: 'error' })
  await until(() => found.logged().includes('"alarm":"journal-conflict"'), 'the alarm is raised')
  expect(found.logged()).toContain(order.id)
})

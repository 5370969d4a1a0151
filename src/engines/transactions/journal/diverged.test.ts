/** Journals that do not match their database: what is raised, and what ends it. */
import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeTransfer, type World, worldOf } from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { listJournalIds } from './directory.ts'
import { declareJournalLost, listWorkerJournals } from './index.ts'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
})
afterAll(() => harness?.close())

const stateOf = async (id: string) =>
  (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state as string
const complete = (id: string) => until(async () => (await stateOf(id)) === 'COMPLETE', 'it is complete')

it('an older copy of a journal raises an alarm and signs nothing, until its files are back or it is lost and away', async () => {
  const home = join(harness.ctx.config.dataDir, 'journals')
  const copy = join(harness.ctx.config.dataDir, 'copy')
  const newest = join(harness.ctx.config.dataDir, 'newest')
  const sequence = async () => (await listWorkerJournals(harness.database))[0]?.sequence ?? 0
  await complete((await makeTransfer(world)).id)
  await until(async () => (await sequence()) > 0, 'the records are registered')
  const [id] = (await listJournalIds(home)) as [string]
  const path = join(home, id)
  await harness.stopEngines()
  await cp(path, copy, { recursive: true })
  const copied = await sequence()
  harness.startEngines()
  await complete((await makeTransfer(world)).id)
  await until(async () => (await sequence()) > copied, 'later records are registered')
  const raised = countAlarm('journal-diverged')
  const withOlderCopy = async () => {
    await harness.stopEngines()
    await rename(path, newest)
    await cp(copy, path, { recursive: true })
    const before = raised()
    harness.startEngines()
    await until(() => raised() > before, 'the alarm is raised')
    const waiting = await makeTransfer(world)
    await harness.stopEngines()
    expect(await stateOf(waiting.id)).toBe('INITIATED')
    return waiting.id
  }

  const first = await withOlderCopy()
  await rm(path, { recursive: true })
  await rename(newest, path)
  harness.startEngines()
  await complete(first)

  const second = await withOlderCopy()
  await rm(path, { recursive: true })
  expect(await declareJournalLost(harness.database, Date.now(), id)).toBe(true)
  harness.startEngines()
  await complete(second)
  expect(await listJournalIds(home)).toHaveLength(1)
})

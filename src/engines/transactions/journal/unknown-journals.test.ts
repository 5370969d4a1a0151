/** A worker that first ran after the copy was made is unknown to the restored database; the other workers have seen it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
import { until } from '#testing/platform/until'
import { listJournalIds } from './directory.ts'
import { listWorkerJournals } from './operator-commands.ts'

afterEach(cleanUp)

it('property 163: nothing is signed before the journal of a worker that the copy does not know is merged', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const { chain } = site
  const first = await copyOf('seeded')
  const before = await site.front(first)
  await site.open(first, 'one')
  const [wallet] = await fundedWallets(before, chain)
  await site.closeAll()
  const restored = await copyOf(first.name)

  const later = await site.front(first)
  await site.open(first, 'one')
  await site.open(first, 'two')
  const journalsOf = (machine: string) => join(site.home, machine, 'journals')
  const [ofOne] = await listJournalIds(journalsOf('one'))
  const seen = () => readFile(join(journalsOf('one'), ofOne!, 'seen.json'), 'utf8')
  await until(async () => (await listJournalIds(journalsOf('two'))).length === 1, 'the other has a journal')
  const [ofTwo] = await listJournalIds(journalsOf('two'))
  await until(async () => (await seen()).includes(ofTwo!), 'the first worker has seen it')
  await site.closeWorkers()
  await site.open(first, 'two')
  const lost = await submit(later, chain, wallet!)
  await until(async () => (await chain.oracle.transfers({ to: lost.to })).length === 1, 'it is sent')
  await site.killAll()

  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  const again = await site.front(restored)
  const worker = await site.open(restored, 'one', { logLevel: 'error' })
  const { id: twin } = await repeat(again, lost)
  expect(twin).not.toBe(lost.id)
  const awaited = async () =>
    (await listWorkerJournals(database)).filter((each) => each.awaited).map(({ id, path }) => ({ id, path }))
  await until(async () => (await awaited()).length === 1, 'the unknown journal is waited for')
  expect(await awaited()).toEqual([{ id: ofTwo, path: join(journalsOf('two'), ofTwo!) }])
  await until(() => worker.logged().includes(join(journalsOf('two'), ofTwo!)), 'an alarm names its path')

  await site.open(restored, 'two')
  await until(async () => (await awaited()).length === 0, 'it is merged')
  const next = await submit(again, chain, wallet!)
  await until(async () => (await chain.oracle.transfers({ to: next.to })).length === 1, 'signing goes on')
  expect((await repeat(again, lost)).id).toBe(lost.id)
  const token = chain.tokens.USDC
  await chain.oracle.checkMovedOnce([lost, next].map(({ to, amountAtomic }) => ({ to, token, amountAtomic })))
  await chain.oracle.checkNonces(wallet!.address)
})

/**
 * A worker dies after it signed and before its journal has the bytes, and another one sends the next nonce. A copy of the
 * database from before both has neither; the journals restore the second one alone, which no node mines without the first.
 */
import { afterEach, expect, it } from 'vitest'
import { openDatabase, sql } from '#runtime/db/db'
import { seededRandom } from '../../../../testing/adversary/seeded-random.ts'
import {
  cleanUp,
  cleanups,
  copyOf,
  fundedWallets,
  openTwoMachines,
  submit,
} from '../../../../testing/restored-database.ts'
import { until } from '../../../../testing/until.ts'

afterEach(cleanUp)

it('property 30: a nonce that no journal has raises an alarm, and the next transfer of the wallet takes it', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const { chain } = site
  const first = await copyOf('seeded')
  const wallet = (await fundedWallets(await site.front(first), chain))[0]!
  await site.closeAll()
  const restored = await copyOf(first.name)

  const tenant = await site.front(first)
  const mortal = await site.open(first, 'one')
  await mortal.arm({ point: 'after-attempt-commit', hit: 1, action: 'kill' })
  const lost = await submit(tenant, chain, wallet)
  await mortal.exited
  const before = openDatabase(first.connection, 1)
  // As if its lease were long: no other worker writes it to a journal.
  await before.run(sql`update attempts set lease_until = now() + interval '1 day'`)
  await before.close()
  await site.open(first, 'two')
  const sent = await submit(tenant, chain, wallet)
  const queued = async () => Number((await chain.rpc<{ queued: string }>('txpool_status')).queued)
  await until(async () => (await queued()) === 1, 'a node has the second one')
  await site.killAll()

  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  const later = await site.front(restored)
  await site.open(restored, 'one')
  const worker = await site.open(restored, 'two', 'error')
  await until(() => worker.logged().includes('"alarm":"nonce-lost"'), 'the alarm is raised')
  const alarm = worker
    .logged()
    .split('\n')
    .find((line) => line.includes('nonce-lost'))
  expect(JSON.parse(alarm!)).toMatchObject({ address: wallet.address, nonce: 0, transactionId: sent.id })
  const next = await submit(later, chain, wallet)
  await until(async () => {
    const rows = await database.all<{ state: string }>(
      sql`select state from transactions where id in (${sent.id}, ${next.id})`,
    )
    return rows.length === 2 && rows.every(({ state }) => state === 'COMPLETE')
  }, 'both are complete')
  const token = chain.tokens.USDC
  await chain.oracle.checkMovedOnce([sent, next].map(({ to, amountAtomic }) => ({ to, token, amountAtomic })))
  expect(await chain.oracle.transfers({ to: lost.to })).toEqual([])
  await chain.oracle.checkNonces(wallet.address)
})

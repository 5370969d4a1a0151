/**
 * A worker dies after it signed and before its journal has the bytes, and another one sends the next nonce. A copy of the
 * database from before both has neither; the journals restore the second one alone, which no node mines without the first.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { openDatabase, sql } from '#runtime/db/db'
import { seededRandom } from '#testing/adversary/seeded-random'
import {
  cleanUp,
  cleanups,
  copyOf,
  fundedWallets,
  openTwoMachines,
  submit,
} from '#testing/databases/restored-database'
import { until } from '#testing/platform/until'

afterEach(cleanUp)

const remedies = ['the next transfer of the wallet takes it', 'an acceleration fills it'] as const

it.each(remedies)('property 30: a nonce that no journal has raises an alarm, and %s', async (remedy) => {
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
  const worker = await site.open(restored, 'two', { logLevel: 'error' })
  await until(() => worker.logged().includes('"alarm":"nonce-lost"'), 'the alarm is raised')
  const alarm = worker
    .logged()
    .split('\n')
    .find((line) => line.includes('nonce-lost'))
  expect(JSON.parse(alarm!)).toMatchObject({ address: wallet.address, nonce: 0, transactionId: sent.id })
  const taken = remedy === remedies[0] ? [await submit(later, chain, wallet)] : []
  if (taken.length === 0) {
    const body = { idempotencyKey: randomUUID(), entitySecretCiphertext: await later.sealSecret() }
    const path = `/v1/w3s/developer/transactions/${sent.id}/accelerate`
    const { status, text } = await later.http('POST', path, { body })
    expect(status, text).toBe(200)
  }
  const waiting = sql`select 1 from transactions where transaction_type = 'OUTBOUND' and state <> 'COMPLETE' limit 1`
  await until(async () => (await database.all(waiting)).length === 0, 'every transfer is complete')
  const token = chain.tokens.USDC
  const moved = [sent, ...taken].map(({ to, amountAtomic }) => ({ to, token, amountAtomic }))
  await chain.oracle.checkMovedOnce(moved)
  expect(await chain.oracle.transfers({ to: lost.to })).toEqual([])
  await chain.oracle.checkNonces(wallet.address)
})

/**
 * An older copy of the database replaces it after clients were answered. A request repeated with its key gets the same
 * answer and pays nothing again, even before the journals are read; books and limits count it.
 */
import { afterEach, expect, it } from 'vitest'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import { seededRandom } from '#testing/adversary/seeded-random'
import {
  cleanUp,
  cleanups,
  copyOf,
  fundedWallets,
  openTwoMachines,
  repeat,
  type SubmittedTransfer,
  submitSome,
} from '#testing/databases/restored-database'
import type { TestChain } from '#testing/platform/chain'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

afterEach(cleanUp)

const stateOf = async (tenant: Tenant, id: string): Promise<string | undefined> =>
  (await tenant.http('GET', `/v1/w3s/transactions/${id}`)).body.data?.transaction.state

async function allReach(tenant: Tenant, orders: readonly { id: string }[], states: readonly string[]) {
  for (const { id } of orders)
    await until(async () => states.includes((await stateOf(tenant, id)) ?? ''), `${id} is ${states.join()}`)
}

const sumOf = (orders: readonly SubmittedTransfer[]) =>
  orders.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)

/** Held amounts of USDC and of native coins, and the amount counted by limits. */
const reserved = (database: Database, token: string) =>
  database.one<{ usdc: bigint; native: bigint; allowed: bigint }>(sql`select
    (select coalesce(sum(a.held), 0) from accounts a join tokens t on t.id = a.token_id where t.address = ${token.toLowerCase()}) as usdc,
    (select coalesce(sum(a.held), 0) from accounts a join tokens t on t.id = a.token_id where t.address is null) as native,
    (select coalesce(sum(amount), 0) from policy_spending where token = ${token.toLowerCase()} and released_date is null) as allowed`)

/** Sum of the highest fees of all nonces that may still be mined. */
const feesUnderWay = async (database: Database) =>
  (
    await database.one<{ sum: bigint }>(sql`select coalesce(sum(fee), 0) as sum from (
      select max(gas_limit * max_fee) as fee from attempts group by address, nonce
      having bool_or(state in ('signed', 'sent'))) f`)
  ).sum

/** Checks that the balance of every address in the books equals that on the chain. */
async function booksAgree(database: Database, { oracle, tokens }: TestChain, addresses: readonly string[]) {
  const rows = await database.all<{ address: string; token: string | null; posted: bigint }>(sql`
    select a.address, t.address as token, a.posted from accounts a join tokens t on t.id = a.token_id
    where a.kind = 'address' and a.address = any(${addresses}::text[])`)
  for (const { address, token, posted } of rows)
    expect([address, posted]).toEqual([
      address,
      await oracle.balanceOf(address, token ? tokens.USDC : undefined),
    ])
}

it('property 30: a request repeated after a restore gets its first answer, and nothing is paid again', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const { chain } = site
  const first = await copyOf('seeded')
  const api = await site.front(first)
  for (const machine of ['one', 'two']) await site.open(first, machine)
  const wallets = await fundedWallets(api, chain)
  const kept = await submitSome(api, chain, wallets, isDeep ? 3 : 1, seededRandom(2))
  await allReach(api, kept, ['COMPLETE'])
  await site.closeAll()
  const restored = await copyOf(first.name)

  const later = await site.front(first)
  const worker = await site.open(first, 'two')
  const paid = await submitSome(later, chain, wallets, isDeep ? 4 : 2, seededRandom(3))
  await allReach(later, paid, ['COMPLETE'])
  await chain.setAutomine(false)
  const flying = await submitSome(later, chain, wallets, isDeep ? 4 : 2, seededRandom(4))
  await allReach(later, flying, ['SENT'])
  const accelerated = flying[0]!
  const speed = await later.http('POST', `/v1/w3s/developer/transactions/${accelerated.id}/accelerate`, {
    body: { idempotencyKey: crypto.randomUUID(), entitySecretCiphertext: await later.sealSecret() },
  })
  expect(speed.status, speed.text).toBe(200)
  const original = openDatabase(first.connection, 1)
  const bumped = sql`select 1 from attempts where kind = 'bump' and state = 'sent'`
  await until(async () => (await original.all(bumped)).length === 1, 'it is accelerated')
  await original.close()
  worker.signal('SIGKILL')
  const unsigned = await submitSome(later, chain, wallets, isDeep ? 2 : 1, seededRandom(5))
  await site.killAll()

  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  const again = await site.front(restored)
  await site.open(restored, 'one')
  for (const order of kept) expect(await repeat(again, order)).toEqual({ status: 200, id: order.id })
  // The journal with their earlier requests is on the other machine: they are accepted as new ones.
  const sent = [...paid, ...flying]
  const twins = await Promise.all(sent.map((order) => repeat(again, order)))
  expect(twins.map(({ status }) => status)).toEqual(sent.map(() => 201))
  const anew = []
  for (const order of unsigned) anew.push({ ...order, id: (await repeat(again, order)).id })

  await site.open(restored, 'two')
  await allReach(again, twins, ['FAILED'])
  for (const order of [...kept, ...sent, ...anew])
    expect(await repeat(again, order)).toEqual({ status: 200, id: order.id })
  await allReach(again, paid, ['COMPLETE'])
  await allReach(again, [...flying, ...anew], ['SENT'])
  const token = chain.tokens.USDC
  const open = [...flying, ...anew]
  expect(await reserved(database, token)).toEqual({
    usdc: sumOf(open),
    native: await feesUnderWay(database),
    allowed: sumOf([...kept, ...paid, ...open]),
  })

  await chain.setAutomine(true)
  await chain.mine()
  const all = [...kept, ...sent, ...anew]
  await allReach(again, all, ['COMPLETE'])
  for (const order of all) expect(await repeat(again, order)).toEqual({ status: 200, id: order.id })
  const moved = all.map(({ to, amountAtomic }) => ({ to, token, amountAtomic }))
  await chain.oracle.checkMovedOnce(moved)
  for (const { address } of wallets) await chain.oracle.checkNonces(address)
  await until(async () => (await reserved(database, token)).usdc === 0n, 'nothing is held')
  expect(await reserved(database, token)).toMatchObject({ native: 0n, allowed: sumOf(all) })
  await booksAgree(
    database,
    chain,
    wallets.map(({ address }) => address),
  )
})

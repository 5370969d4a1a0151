/**
 * An older copy of the database replaces it, after transfers were sent that the copy does not contain. Two machines with
 * a worker each, killed at a random moment; the chain is read by a reader that shares no code with them.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import { type SeededRandom, seededRandom, seedsOf } from '#testing/adversary/seeded-random'
import { makeTransfer, worldOf } from '#testing/builders/world'
import { type Clone, urlOf } from '#testing/databases/database-clone'
import {
  cleanUp,
  cleanups,
  copyOf,
  fundedWallets,
  openTwoMachines,
  type SubmittedTransfer,
  submit,
  submitSome,
} from '#testing/databases/restored-database'
import { testRootKey } from '#testing/databases/template'
import { openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { drawnTests } from '#testing/runner/drawn'
import { isDeep } from '#testing/runner/size'
import { listJournalIds } from './directory.ts'
import { decodeRecords } from './journal.ts'
import { declareJournalLost, listWorkerJournals } from './operator-commands.ts'
import { readFrom } from './segments.ts'

afterEach(cleanUp)

const drawn = (random: SeededRandom, least: number, sides: number) => least + random.below(sides)

async function journaledHashes(home: string): Promise<Set<string>> {
  const hashes = new Set<string>()
  for (const machine of ['one', 'two'])
    for (const id of await listJournalIds(join(home, machine, 'journals')))
      for await (const { payload } of readFrom(join(home, machine, 'journals', id), id, 0))
        for (const { txHash } of decodeRecords(payload)) hashes.add(txHash)
  return hashes
}

const drawnIt = drawnTests(1, 2)

it.each(seedsOf(1))(
  'property 30: an older copy of the database moves no value twice (seed %i)',
  async (seed) => {
    const random = seededRandom(seed)
    const site = await openTwoMachines(random)
    const { chain } = site
    const first = await copyOf('seeded')
    const api = await site.front(first)
    for (const machine of ['one', 'two']) await site.open(first, machine)
    const wallets = await fundedWallets(api, chain)
    const kept = await submitSome(api, chain, wallets, drawn(random, isDeep ? 5 : 2, isDeep ? 15 : 4), random)
    await site.closeWorkers()
    // Accepted and unsigned at the time of the copy: sent afterwards, they must not be sent again.
    kept.push(...(await submitSome(api, chain, wallets, drawn(random, 1, isDeep ? 6 : 3), random)))
    await site.closeAll()
    const restored = await copyOf(first.name)

    const later = await site.front(first)
    await site.open(first, 'one')
    const worker = await site.open(first, 'two')
    const lost: SubmittedTransfer[] = []
    const count = drawn(random, isDeep ? 10 : 5, isDeep ? 30 : 6)
    for (let index = 0; index < count; index++) {
      lost.push(...(await submitSome(later, chain, wallets, 1, random)))
      if (index === Math.floor(count / 2) && random.oneIn(2)) worker.signal('SIGKILL')
    }
    await sleep(random.below(1_500))
    await site.killAll()
    const known = await journaledHashes(site.home)

    const database = openDatabase(restored.connection, 2)
    cleanups.push(() => database.close())
    const again = await site.front(restored)
    await site.open(restored, 'one')
    // The other machine's journal is missing: every new request waits for it.
    const before = await database.one<{ n: number }>(sql`select count(*) as n from signatures`)
    const fresh = await submitSome(again, chain, wallets, isDeep ? 5 : 2, random)
    await sleep(1_500)
    const signed = await database.one<{ n: number }>(sql`select count(*) as n from attempts a
    where not (tx_hash = any(${[...known]}::text[])) and exists (select 1 from transactions t
      where t.entity_id = a.entity_id and t.id = a.transaction_id and t.id = any(${fresh.map(({ id }) => id)}::uuid[]))`)
    expect(signed.n).toBe(0)
    await site.open(restored, 'two')
    fresh.push(
      ...(await submitSome(again, chain, wallets, drawn(random, isDeep ? 5 : 2, isDeep ? 10 : 3), random)),
    )
    await until(async () => {
      // A nonce that was signed for, and is in no journal, is taken by the next transfer of its wallet.
      for (const { address } of await sendersWithLostNonces(database))
        fresh.push(await submit(again, chain, wallets.find((wallet) => wallet.address === address)!))
      const open = sql`select 1 from transactions where transaction_type = 'OUTBOUND' and state <> 'COMPLETE' limit 1`
      return (await database.all(open)).length === 0
    }, 'every transfer is complete')

    const token = chain.tokens.USDC
    const moved = await chain.oracle.transfers({ token })
    const times = ({ to, amountAtomic }: SubmittedTransfer) =>
      moved.filter((each) => each.to === to && each.amountAtomic === amountAtomic).length
    for (const order of [...kept, ...fresh]) expect([order.to, times(order)]).toEqual([order.to, 1])
    for (const order of lost) expect([order.to, times(order)]).toEqual([order.to, times(order) > 0 ? 1 : 0])
    for (const { address } of wallets) await chain.oracle.checkNonces(address)
    // Each lost transfer that was sent is restored under its own id, and no other transfer has its nonce.
    const rows = await database.all<{ id: string; txHash: string; state: string }>(
      sql`select id, tx_hash, state from transactions where transaction_type = 'OUTBOUND'`,
    )
    const states = new Map(rows.map((row) => [row.id, row.state]))
    const sent = lost.filter((order) => times(order) > 0)
    for (const { id } of sent) expect([id, states.get(id)]).toEqual([id, 'COMPLETE'])
    const used = await database.all<{ hash: string }>(
      sql`select tx_hash as hash from attempts where state = 'mined'`,
    )
    expect([...known].filter((hash) => !used.some((row) => row.hash === hash))).toEqual([])
    const unsigned = await database.one<{
      n: number
    }>(sql`select count(*) as n from attempts a where not exists (
    select 1 from signatures s where s.entity_id = a.entity_id and s.address = a.address and s.nonce = a.nonce and s.max_fee = a.max_fee)`)
    expect(unsigned.n).toBe(0)
    console.info(
      `seed ${seed}: ${kept.length} kept, ${sent.length} of ${lost.length} lost ones had been sent, ${fresh.length} new; ${before.n} signatures in the copy, ${known.size} in the journals`,
    )
  },
)

drawnIt('property 30: nothing is signed until a missing journal is merged or declared lost', async () => {
  const random = seededRandom(1)
  const site = await openTwoMachines(random)
  const { chain } = site
  const first = await copyOf('seeded')
  const api = await site.front(first)
  for (const machine of ['one', 'two', 'three']) await site.open(first, machine)
  const wallets = await fundedWallets(api, chain)
  const kept = await submitSome(api, chain, wallets, isDeep ? 5 : 2, random)
  const before = openDatabase(first.connection, 1)
  await until(async () => (await listWorkerJournals(before)).length === 3, 'every worker has its journal')
  await until(async () => (await countOf(before)) === kept.length, 'everything is signed')
  await before.close()
  await site.closeAll()
  const restored = await copyOf(first.name)
  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  const again = await site.front(restored)
  await site.open(restored, 'one')
  const fresh = await submitSome(again, chain, wallets, isDeep ? 3 : 2, random)
  const signedNow = async () => (await countOf(database)) - kept.length
  await until(
    async () => (await listWorkerJournals(database)).filter(({ awaited }) => awaited).length === 2,
    'two journals are waited for',
  )
  await sleep(1_200)
  expect(await signedNow()).toBe(0)

  const [two] = await listJournalIds(join(site.home, 'two', 'journals'))
  const [three] = await listJournalIds(join(site.home, 'three', 'journals'))
  const merged = await command(restored, ['merge', join(site.home, 'two', 'journals', two!)])
  expect(merged).toMatchObject({ code: 0, said: [{ added: 0 }] })
  expect(await awaitedIn(restored)).toEqual([three])
  await sleep(1_200)
  expect(await signedNow()).toBe(0)
  expect((await command(restored, ['declare-lost', '--journal', two!.replace(/./, 'x')])).code).toBe(2)
  expect((await command(restored, ['merge', join(site.home, 'nowhere')])).code).toBe(1)
  expect(await command(restored, ['declare-lost', '--journal', three!])).toMatchObject({ code: 0 })
  await until(async () => (await signedNow()) === fresh.length, 'everything is signed')
  for (const { to, amountAtomic } of fresh)
    await until(
      async () => (await chain.oracle.transfers({ to })).some((moved) => moved.amountAtomic === amountAtomic),
      `${to} has its money`,
    )
})

drawnIt(
  'property 30: a database older than a worker last saw it starts an epoch that waits for missing journals',
  async () => {
    const harness = await openHarness()
    cleanups.push(harness.close)
    const { database, ctx } = harness
    const world = worldOf(harness)
    await world.transfer()
    const home = join(ctx.config.dataDir, 'journals')
    await until(async () => (await listJournalIds(home)).length === 1, 'the worker has its journal')
    const [id] = await listJournalIds(home)
    const seenPath = join(home, id!, 'seen.json')
    await harness.stopEngines()
    const epochNow = async () =>
      (await database.one<{ epoch: number }>(sql`select epoch from journal_epochs`)).epoch
    const first = await epochNow()
    harness.startEngines()
    const { id: before } = await makeTransfer(world)
    const complete = async (one: string) =>
      (await world.call('GET', `/v1/w3s/transactions/${one}`)).transaction.state === 'COMPLETE'
    await until(() => complete(before), 'an ordinary start waits for nothing')
    expect(await epochNow()).toBe(first)
    await harness.stopEngines()

    // Simulates restored database files: the same server, but its log ends before the recorded position.
    const seen = JSON.parse(await readFile(seenPath, 'utf8'))
    await writeFile(
      seenPath,
      JSON.stringify({ ...seen, logPosition: `${BigInt(seen.logPosition) + 10n ** 12n}` }),
    )
    await database.run(sql`insert into journals select 'feedfeedfeedfeed', 'elsewhere', '/gone', 0, head_hash, 'open',
    merged_epoch, create_date, update_date from journals where id = ${id}`)
    harness.startEngines()
    await until(async () => (await epochNow()) === first + 1, 'an epoch begins')
    const { id: after } = await makeTransfer(world)
    await sleep(1_200)
    expect((await world.call('GET', `/v1/w3s/transactions/${after}`)).transaction.state).toBe('INITIATED')
    expect(await declareJournalLost(database, Date.now(), 'feedfeedfeedfeed')).toBe(true)
    await until(() => complete(after), 'nobody is waited for any more')
    expect(await epochNow()).toBe(first + 1)
  },
)

/** The addresses with an attempt in flight above a nonce without any, for which no transfer waits to be signed. */
const sendersWithLostNonces = (database: Database) =>
  database.all<{ address: string }>(sql`select distinct a.address from attempts a
    where a.state in ('signed', 'sent') and a.nonce > 0
      and not exists (select 1 from attempts b where b.entity_id = a.entity_id and b.address = a.address and b.nonce = a.nonce - 1)
      and not exists (select 1 from transactions t where t.entity_id = a.entity_id and t.address = a.address and t.tx_hash is null
        and t.state in ('INITIATED', 'CLEARED', 'QUEUED'))`)

const countOf = async (database: Database) =>
  (await database.one<{ n: number }>(sql`select count(*) as n from attempts`)).n
const awaitedIn = async (clone: Clone) =>
  (await command(clone, ['list'])).said.filter(({ awaited }) => awaited).map(({ id }) => id)

/** The operator's command, on this database. */
async function command(clone: Clone, args: readonly string[]) {
  const env = { DATABASE_URL: urlOf(clone.connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') }
  const { code, stdout } = await runCommand({ command: 'journal', args: [...args, '--json'], env })
  const said = stdout.split('\n').filter(Boolean)
  return {
    code,
    said: said.map((line) => JSON.parse(line) as { id?: string; awaited?: boolean; added?: number }),
  }
}

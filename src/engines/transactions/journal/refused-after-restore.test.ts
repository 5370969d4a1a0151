/**
 * Bytes in the journal may have been sent, whatever the restored database contains: the first send that it records is not
 * the real first one, and no refusal of it ends the transaction.
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
  submit,
} from '#testing/databases/restored-database'
import type { TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'

afterEach(cleanUp)

const send = 'eth_sendRawTransaction'

/** Simulates another node, which never saw these bytes, refuses them permanently, and is then unreachable. */
function refuseOnce(chain: TestChain): void {
  let said = false
  chain.intercept(async ({ body }) => {
    if (!body.includes(send)) return 'forward'
    if (said) return 'drop'
    said = true
    const calls = JSON.parse(body.toString()) as { id: number }[]
    const error = { code: -32000, message: 'intrinsic gas too low' }
    return { body: JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))) }
  })
}

const refused = (database: Database) =>
  database.all<{ state: string }>(sql`select t.state from transactions t
    join attempts a on a.entity_id = t.entity_id and a.transaction_id = t.id where a.last_error is not null`)

const isComplete = async (database: Database, id: string) =>
  (await database.one<{ state: string }>(sql`select state from transactions where id = ${id}`)).state ===
  'COMPLETE'

it.each([
  { saved: 'before it was signed', failpoint: undefined },
  {
    saved: 'between its signature and its sending',
    failpoint: { point: 'after-attempt-commit', hit: 1, action: 'kill' } as const,
  },
])(
  'property 30: a refusal after the restore of a copy made $saved does not fail a transfer that was sent',
  async ({ failpoint }) => {
    const site = await openTwoMachines(seededRandom(1), { automine: true })
    const { chain } = site
    const first = await copyOf('seeded')
    const tenant = await site.front(first)
    const worker = await site.open(first, 'one')
    const [wallet] = await fundedWallets(tenant, chain)
    await chain.setAutomine(false)
    if (failpoint) await worker.arm(failpoint)
    else await site.close(worker)
    const order = await submit(tenant, chain, wallet!)
    if (failpoint) await worker.exited
    await site.closeAll()
    const restored = await copyOf(first.name)
    await site.open(first, 'one')
    const pending = async () => Number((await chain.rpc<{ pending: string }>('txpool_status')).pending)
    await until(async () => (await pending()) === 1, 'a node has it')
    await site.killAll()

    const database = openDatabase(restored.connection, 2)
    cleanups.push(() => database.close())
    refuseOnce(chain)
    await site.front(restored)
    await site.open(restored, 'one')
    await until(async () => (await refused(database)).length === 1, 'another node has refused it')
    expect(await refused(database)).toEqual([{ state: 'QUEUED' }])
    chain.intercept(undefined)
    await chain.setAutomine(true)
    await chain.mine()
    await until(() => isComplete(database, order.id), 'it is complete')
    const { to, amountAtomic } = order
    await chain.oracle.checkMovedOnce([{ to, token: chain.tokens.USDC, amountAtomic }])
    await chain.oracle.checkNonces(wallet!.address)
  },
)

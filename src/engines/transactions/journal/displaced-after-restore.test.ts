/**
 * Another holder of the key uses the nonce of a transfer, which is then sent with the next nonce. A copy of the database from
 * before both learns the second bytes from the journal, and that the nonce of the first ones was used from the blocks.
 */
import { afterEach, expect, it } from 'vitest'
import { openDatabase, sql } from '#runtime/db/db'
import { seededRandom } from '#testing/adversary/seeded-random'
import type { Clone } from '#testing/databases/database-clone'
import {
  cleanUp,
  cleanups,
  copyOf,
  fundedWallets,
  openTwoMachines,
  submit,
} from '#testing/databases/restored-database'
import type { TestChain } from '#testing/platform/chain'
import { mineUntil, until } from '#testing/platform/until'

afterEach(cleanUp)

it('property 30: a transfer whose nonce was used outside before a restore is paid once', async () => {
  const { chain, ...site } = await openTwoMachines(seededRandom(1), { automine: true })
  const first = await copyOf('seeded')
  const wallet = (await fundedWallets(await site.front(first), chain))[0]!
  await chain.setAutomine(false)
  await site.closeAll()

  const tenant = await site.front(first)
  await site.open(first, 'one')
  const sent = await submit(tenant, chain, wallet)
  await untilAttempts(first, ['0 sent'])
  await site.closeAll()
  const restored = await copyOf(first.name)

  await chain.rpc('anvil_dropAllTransactions')
  await chain.rpc('anvil_impersonateAccount', [wallet.address])
  await chain.rpc('eth_sendTransaction', [{ from: wallet.address, to: wallet.address, value: '0x1' }])
  await chain.mine()
  // No answer: what is signed next is in a journal, and in no block before the nonce outside is final.
  chain.intercept(async ({ body }) => (body.includes('eth_sendRawTransaction') ? 'drop' : 'forward'))
  const displaced = ['0 displaced', '1 signed']
  await site.front(first)
  await site.open(first, 'one')
  await untilAttempts(first, displaced, chain)
  await untilTried(first, 1)
  await site.killAll()

  // The journal is merged before the front indexes the block that used the nonce.
  await site.open(restored, 'one')
  await untilAttempts(restored, ['0 sent', '1 signed'])
  const later = await site.front(restored)
  await untilAttempts(restored, displaced, chain)
  // Sent from the same wallet: what waits before it is signed first.
  const next = await submit(later, chain, wallet)
  await untilAttempts(restored, [...displaced, '2 signed'])
  chain.intercept(undefined)
  await chain.setAutomine(true)
  await chain.mine()
  const database = openDatabase(restored.connection, 1)
  cleanups.push(() => database.close())
  const waiting = sql`select 1 from transactions where transaction_type = 'OUTBOUND' and state <> 'COMPLETE' limit 1`
  await mineUntil(
    chain,
    async () => (await database.all(waiting)).length === 0,
    'both transfers are complete',
  )
  const token = chain.tokens.USDC
  await chain.oracle.checkMovedOnce([sent, next].map(({ to, amountAtomic }) => ({ to, token, amountAtomic })))
  const open = sql`select 1 from attempts where state in ('signed', 'sent')`
  expect(await database.all(open)).toEqual([])
})

/** Waits until the bytes of a nonce were sent, without an answer: a journal has them by then. */
async function untilTried({ connection }: Clone, nonce: number): Promise<void> {
  const database = openDatabase(connection, 1)
  const tried = sql`select 1 from attempts where nonce = ${nonce} and last_error is not null`
  await until(async () => (await database.all(tried)).length > 0, `nonce ${nonce} was sent`)
  await database.close()
}

/** Waits until the attempts have these nonces and states; `chain` makes blocks meanwhile. */
async function untilAttempts(
  { connection }: Clone,
  expected: readonly string[],
  chain?: TestChain,
): Promise<void> {
  const database = openDatabase(connection, 1)
  const attempts = sql`select nonce, state from attempts order by nonce`
  await until(
    async () => {
      await chain?.mine()
      const rows = await database.all<{ nonce: number; state: string }>(attempts)
      return rows.map(({ nonce, state }) => `${nonce} ${state}`).join() === expected.join()
    },
    `the attempts are ${expected.join(' and ')}`,
  )
  await database.close()
}

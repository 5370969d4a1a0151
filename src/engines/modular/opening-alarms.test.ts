/**
 * Property 294: coins that an account received before its wallet was known raise no alarm while the block at which they are booked
 * is not complete, and a wrong balance raises one afterwards. BASE-SEPOLIA is followed as in production: a block is complete
 * after 72 confirmations.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { balancesOf } from '#engines/ledger/index'
import { sql } from '#runtime/db/db'
import { addressOwner, makeModularWallet, openModularAccount } from '#testing/builders/modular-accounts'
import { worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'

const paidAtomic = 1_000_000_000n
let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ node: async () => ({ local: false }) })
})
afterAll(() => harness?.close())

const gaps = async () => (await harness.http('GET', '/operator/reconciliations')).body.data

const compared = async () => {
  const row = await harness.database.maybe<{ blockNumber: number }>(
    sql`select block_number from reconciliations where blockchain = ${harness.chain().blockchain}`,
  )
  return row?.blockNumber ?? -1
}

const complete = async () =>
  (await harness.chain().height()) - harness.ctx.chains.list()[0]!.confirmations + 1

/** Waits until a comparison that began after now is over: that of a later block. */
async function comparedAgain(): Promise<void> {
  const from = await complete()
  await mineUntil(harness.chain(), async () => (await compared()) > from, 'a later block is compared')
}

/** An account that was paid so long ago that the block is complete, and is no wallet yet. */
async function paidAccount() {
  const owner = addressOwner()
  const { account } = await openModularAccount(harness, harness, owner)
  await harness.chain().mine(100)
  const paidBefore = await complete()
  await until(async () => (await compared()) >= paidBefore, 'its block is compared')
  return { owner: owner.address, address: account.address.toLowerCase() }
}

const booked = async (address: string) => {
  const rows = await balancesOf(harness.database, harness.entityId, harness.chain().blockchain, [address])
  return rows.map(({ postedAtomic }) => postedAtomic).filter((amount) => amount !== 0n)
}

it('property 294: coins from before a wallet was known are no gap while their block is not complete, and a wrong balance is one', async () => {
  const { owner, address } = await paidAccount()
  const wallet = await makeModularWallet(worldOf(harness), owner)
  expect([wallet.address, await booked(address)]).toEqual([address, [paidAtomic]])
  const openedBefore = await harness.chain().height()
  for (let times = 0; times < 2; times++) await comparedAgain()
  expect(await complete()).toBeLessThan(openedBefore)
  expect(await gaps()).toEqual([])
  await harness.chain().mine(100)
  await until(async () => (await compared()) >= openedBefore, 'the block of the booking is compared')
  expect(await gaps()).toEqual([])
  // Coins go without a transfer.
  const { rpc, tokens, mine } = harness.chain()
  await rpc('anvil_dealERC20', [address, tokens.USDC, '0x1'])
  await mine(100)
  await until(async () => (await gaps()).length > 0, 'the wrong balance is a gap')
  expect(await gaps()).toMatchObject([{ address, booked: '1000', onChain: '0.000001' }])
})

it('property 294: coins from before that were booked at an orphaned block are booked again', async () => {
  const before = await gaps()
  const { owner, address } = await paidAccount()
  await harness.chain().mine()
  await makeModularWallet(worldOf(harness), owner)
  const hash = async () =>
    (await harness.chain().rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash
  const orphaned = await hash()
  await harness.chain().reorg(3)
  await harness.chain().mine()
  const isUndone = async () =>
    (await harness.database.maybe(sql`select 1 from blocks where hash = ${orphaned} and not canonical`)) !==
    undefined
  await until(isUndone, 'the block is undone')
  await until(async () => (await booked(address)).length > 0, 'the coins are booked again')
  expect(await booked(address)).toEqual([paidAtomic])
  await harness.chain().mine(100)
  const end = await complete()
  await until(async () => (await compared()) >= end, 'the block of the booking is compared')
  expect(await gaps()).toEqual(before)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { mineAtBaseFee } from '#testing/nodes/base-fee'
import { shortFinalityNetwork } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({
    blockchains: [shortFinalityNetwork.blockchain],
    node: async () => ({ local: false }),
  })
})
afterAll(() => harness?.close())

it('property 20: a transfer on a configured chain completes when its block is final, and reverts before that', async () => {
  const on = transferActions(harness)
  const chain = harness.chain()
  const wallet = await on.fundedWallet()
  const to = freshAddress()
  const id = await on.transfer(wallet, { destinationAddress: to })
  const first = await on.reaches(id, 'CONFIRMED')
  const bytes = (await on.attemptsOf(id))[0]!.raw
  await chain.mine(10)
  await chain.reorg(11)
  await chain.mine(2)
  await on.reaches(id, 'SENT')
  await chain.rpc('eth_sendRawTransaction', [`0x${bytes.toString('hex')}`]).catch(() => undefined)
  await chain.mine()
  const second = await on.reaches(id, 'CONFIRMED')
  expect([second.txHash, second.blockHash === first.blockHash]).toEqual([first.txHash, false])
  const above = (await chain.height()) - second.blockHeight!
  await chain.mine(shortFinalityNetwork.confirmations - above - 2)
  await sleep(1_500)
  expect((await on.read(id)).state).toBe('CONFIRMED')
  await chain.mine()
  await on.reaches(id, 'COMPLETE')
  await chain.oracle.checkMovedOnce([{ to, token: chain.tokens.USDC, amountAtomic: 500_000n }])
  await chain.oracle.checkNonces(wallet.address)
  expect(await on.held(wallet)).toBe(0n)
})

it('property 20: a transfer whose block is orphaned can be accelerated', async () => {
  const on = transferActions(harness)
  const chain = harness.chain()
  const wallet = await on.fundedWallet()
  await chain.setAutomine(false)
  const id = await on.transfer(wallet)
  await on.sent(id, 'original')
  expect((await on.ask(id, 'cancel')).status).toBe(200)
  const { maxFee } = await on.sent(id, 'cancel')
  await chain.mine()
  await on.reaches(id, 'CANCELLED')
  await chain.reorg(1)
  await on.reaches(id, 'SENT')
  await on.sent(id, 'cancel')
  await mineAtBaseFee(chain, maxFee * 3n)
  expect((await on.ask(id, 'cancel')).status).toBe(200)
  const dearer = async () => (await on.attemptsOf(id)).find((attempt) => attempt.maxFee > maxFee * 3n)
  await until(async () => (await dearer())?.state === 'sent', 'a dearer cancellation is sent')
  await chain.setAutomine(true)
  await chain.mine()
  expect((await on.reaches(id, 'CANCELLED')).txHash).toBe((await dearer())!.txHash)
  await chain.mine(shortFinalityNetwork.confirmations)
  const grants = sql`select 1 from grants where intent_id = ${id}`
  const isErased = async () => (await harness.database.all(grants)).length === 0
  await mineUntil(chain, isErased, 'its grant is erased')
  await chain.oracle.checkNonces(wallet.address)
})

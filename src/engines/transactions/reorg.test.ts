import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, makeWallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import type { TransactionRow } from './index.ts'

let harness: Harness
let sending: ReturnType<typeof transferActions>

beforeAll(async () => {
  harness = await openHarness()
  sending = transferActions(harness)
})
afterAll(() => harness?.close())

const inboundOf = async (txHash: string): Promise<TransactionRow[]> => {
  const { transactions } = await sending.world.call(
    'GET',
    `/v1/w3s/transactions?txHash=${txHash}&txType=INBOUND`,
  )
  return transactions
}

const eventsOf = async (id: string) =>
  (
    await harness.database.all<{ type: string }>(
      sql`select type from events where resource_id = ${id} order by create_date, id`,
    )
  ).map(({ type }) => type.replace('transaction.', ''))

describe('an orphaned block', () => {
  it('property 20: its transfers are sent again with the same bytes, and move their value once', async () => {
    const wallet = await sending.fundedWallet()
    const to = freshAddress()
    const id = await sending.transfer(wallet, { destinationAddress: to, amounts: ['2.5'] })
    const before = await sending.reaches(id, 'COMPLETE')
    await harness.chain().reorg(1)
    await until(async () => (await eventsOf(id)).filter((type) => type === 'complete').length === 2, 'again')
    const after = await sending.read(id)
    expect(after.txHash).toBe(before.txHash)
    expect(after.blockHash).not.toBe(before.blockHash)
    expect(after.state).toBe('COMPLETE')
    await harness
      .chain()
      .oracle.checkMovedOnce([{ to, token: harness.chain().tokens.USDC, amountAtomic: 2_500_000n }])
    const balances = await sending.booked(wallet)
    const usdc = balances.find((row) => row.tokenId === sending.world.usdcId)
    expect(usdc).toMatchObject({ postedAtomic: 997_500_000n, heldAtomic: 0n })
    expect(await sending.attemptsOf(id)).toHaveLength(1)
  })

  it('property 20: a complete transfer of a local chain can still be accelerated', async () => {
    const chain = harness.chain()
    const wallet = await sending.fundedWallet()
    const to = freshAddress()
    const id = await sending.transfer(wallet, { destinationAddress: to })
    await sending.reaches(id, 'COMPLETE')
    await chain.setAutomine(false)
    await chain.reorg(1)
    await sending.reaches(id, 'SENT')
    expect((await sending.ask(id, 'accelerate')).status).toBe(200)
    const { txHash } = await sending.sent(id, 'bump')
    await chain.setAutomine(true)
    await chain.mine()
    expect((await sending.reaches(id, 'COMPLETE')).txHash).toBe(txHash)
    await chain.oracle.checkMovedOnce([{ to, token: chain.tokens.USDC, amountAtomic: 500_000n }])
  })

  it('property 20: an inbound transfer is reverted, and confirmed again at another place in a block', async () => {
    const chain = harness.chain()
    const wallet = await makeWallet(sending.world)
    const txHash = await chain.send(wallet.address, 3_000_000n, 'USDC')
    await until(async () => (await inboundOf(txHash))[0]?.state === 'COMPLETE', 'it came in')
    const [first] = await inboundOf(txHash)
    const raw = await chain.rpc<string>('eth_getRawTransactionByHash', [txHash])
    await chain.reorg(1)
    await until(async () => (await inboundOf(txHash))[0]?.state === 'FAILED', 'it is taken back')
    expect((await sending.read(first!.id)).errorReason).toBe('FAILED_REORG')
    // Another payment precedes it this time, so that its log has another position in the block.
    await chain.setAutomine(false)
    const [other] = await chain.rpc<string[]>('eth_accounts')
    const generous = { maxPriorityFeePerGas: '0x2540be400', maxFeePerGas: '0x174876e800' }
    const data = `0x095ea7b3${wallet.address.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
    const ahead = {
      from: other,
      to: chain.tokens.USDC,
      gas: '0x30d40',
      ...generous,
      data,
    }
    await chain.rpc('eth_sendTransaction', [ahead])
    await chain.rpc('eth_sendRawTransaction', [raw])
    await chain.mine()
    await chain.setAutomine(true)
    await until(async () => (await sending.read(first!.id)).state === 'COMPLETE', 'it is back')
    const logs = (await chain.oracle.transfers({ to: wallet.address })).filter(
      (each) => each.txHash === txHash,
    )
    expect(logs.map((log) => log.logIndex)).toEqual([1])
    expect((await inboundOf(txHash)).map((row) => row.id)).toEqual([first!.id])
    expect((await sending.read(first!.id)).errorReason).toBeNull()
  })
})

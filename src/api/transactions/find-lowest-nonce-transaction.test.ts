import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import type { Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const path = '/v1/w3s/transactions/lowestNonceTransaction'
let harness: Harness
let sending: ReturnType<typeof transferActions>
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  sending = transferActions(harness)
  wallet = await sending.fundedWallet()
})
afterAll(() => harness?.close())

const ask = (query: Record<string, string>) => harness.http('GET', path, { query })

async function transfer(feeLevel: string): Promise<string> {
  const id = await sending.transfer(wallet, { feeLevel })
  await sending.reaches(id, 'SENT')
  return id
}

describe('the transaction with the lowest nonce', () => {
  it('is the first one sent, until a block includes it', async () => {
    const chain = harness.chain()
    // Empty blocks, so that fee suggestions see no tips: the levels differ.
    await chain.mine(10)
    // Earlier suggestions are cached for a second.
    await sleep(1_100)
    await chain.setAutomine(false)
    const ids = [await transfer('LOW'), await transfer('HIGH')]
    const { status, body } = await ask({ walletId: wallet.id })
    expect(status).toBe(200)
    expect(body.data.transaction).toMatchObject({ id: ids[0], state: 'SENT', feeLevel: 'LOW' })
    const { newHighEstimatedFee: high, feeDifferenceAmount } = body.data.feeInfo
    const { estimatedFee } = body.data.transaction
    expect(high.gasLimit).toBe(estimatedFee.gasLimit)
    expect(Number(high.networkFee) - Number(estimatedFee.networkFee)).toBeCloseTo(
      Number(feeDifferenceAmount),
      15,
    )
    expect(Number(feeDifferenceAmount)).toBeGreaterThan(0)
    const byAddress = await ask({ address: wallet.address, blockchain: wallet.blockchain })
    expect(byAddress.body.data.transaction.id).toBe(ids[0])
    await chain.mine()
    await until(async () => (await ask({ walletId: wallet.id })).status === 204, 'nothing is under way')
    await chain.setAutomine(true)
  })

  it.each([
    ['no wallet', {}, 2, 'walletId'],
    ['an address without its blockchain', { address: `0x${'1'.repeat(40)}` }, 2, 'walletId'],
    ['an unknown wallet', { walletId: randomUUID() }, 156001],
    ['an address of nobody', { address: `0x${'1'.repeat(40)}`, blockchain: 'BASE-SEPOLIA' }, 156001],
    ['two wallets', { walletId: randomUUID(), address: `0x${'1'.repeat(40)}` }, 155244, 'address'],
  ])('is refused for %s', async (_, query, code, location?: string) => {
    const { status, body } = await ask(query as Record<string, string>)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(body.code).toBe(code)
    if (location) expect(body.errors[0].location).toBe(location)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let on: ReturnType<typeof transferActions>
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  on = transferActions(harness)
})
beforeEach(async () => {
  wallet = await on.fundedWallet()
})
afterAll(() => harness?.close())

/** Numbers of signed transactions ahead of the chain. */
const distances = isDeep ? [1, 16, 64, 700] : [6]
const restored = isDeep ? 20 : 6

describe('nonces ahead of the chain', () => {
  it.each(distances)(
    'property 17: %i nonces that a node forgot are used again without a request',
    async (count) => {
      const chain = harness.chain()
      await chain.setAutomine(false)
      const ids = await Promise.all(Array.from({ length: count }, () => on.transfer(wallet)))
      for (const id of ids) await on.sent(id, 'original')
      await chain.rpc('anvil_dropAllTransactions')
      await chain.setAutomine(true)
      for (const id of ids) await on.reaches(id, 'COMPLETE')
      await chain.oracle.checkNonces(wallet.address)
      for (const id of ids) expect(await on.attemptsOf(id)).toHaveLength(1)
      await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
    },
  )

  it('property 17: nonces lost by a node restored from an older state are used again without a request', async () => {
    const chain = harness.chain()
    const snapshot = await chain.snapshot()
    const to = Array.from({ length: restored }, freshAddress)
    const ids = await Promise.all(to.map((destinationAddress) => on.transfer(wallet, { destinationAddress })))
    for (const id of ids) await on.reaches(id, 'COMPLETE')
    await chain.revert(snapshot)
    await chain.mine()
    const sentAgain = async () => (await chain.oracle.transactions(wallet.address)).length === restored
    await until(sentAgain, 'all are mined again')
    await chain.oracle.checkNonces(wallet.address)
    const token = chain.tokens.USDC
    for (const address of to) expect(await chain.oracle.transfers({ to: address, token })).toHaveLength(1)
    for (const id of ids) await on.reaches(id, 'COMPLETE')
  })
})

describe('a used nonce', () => {
  it('property 17: an external use of the key gives the transfer another nonce once final, and it pays once', async () => {
    const chain = harness.chain()
    const raised = countAlarm('nonce-used-outside')
    await chain.setAutomine(false)
    const destinationAddress = freshAddress()
    const id = await on.transfer(wallet, { destinationAddress })
    const first = await on.sent(id, 'original')
    await chain.rpc('anvil_impersonateAccount', [wallet.address])
    // Dear enough to replace the transfer in the pool, and to stay there when the worker sends that again.
    const price = { maxFeePerGas: '0x4000000000', maxPriorityFeePerGas: '0x4000000000' }
    const nonce = `0x${first.nonce.toString(16)}`
    await chain.rpc('eth_sendTransaction', [
      { from: wallet.address, to: wallet.address, nonce, value: '0x1', gas: '0x5208', ...price },
    ])
    await chain.mine()
    await chain.setAutomine(true)
    await on.reaches(id, 'COMPLETE')
    expect(raised()).toBe(1)
    const attempts = await on.attemptsOf(id)
    expect(attempts.map(({ state, nonce }) => [state, nonce])).toEqual([
      ['displaced', first.nonce],
      ['mined', first.nonce + 1],
    ])
    const moved = await chain.oracle.transfers({ to: destinationAddress, token: chain.tokens.USDC })
    expect(moved).toHaveLength(1)
    await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
  })
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { startTestChains, type TestChain } from '#testing/platform/chain'

const recipient = '0x00000000000000000000000000000000000a11ce'
let chain: TestChain
let stop: () => Promise<void>

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  stop = started.stop
  chain = started.chains[0]!
})
afterAll(() => stop())

it('replays balances of native coin and tokens, and agrees with the node', async () => {
  await chain.send(recipient, 5n)
  await chain.send(recipient, 1_500_000n, 'USDC')
  await chain.send(recipient, 250_000n, 'USDC')
  await chain.send(recipient, 7n, 'EURC')
  expect(await chain.oracle.balanceOf(recipient)).toBe(5n)
  expect(await chain.oracle.balanceOf(recipient, chain.tokens.USDC)).toBe(1_750_000n)
  expect(await chain.oracle.balanceOf(recipient, chain.tokens.EURC)).toBe(7n)
  expect(await chain.oracle.balanceOf(chain.outsider)).toBeGreaterThan(0n)
  expect(await chain.oracle.transfers({ to: recipient, token: chain.tokens.USDC })).toHaveLength(2)
  await chain.oracle.checkNonces(chain.outsider)
})

it('reports a value that moved twice, or not at all', async () => {
  const movement = { from: chain.outsider, to: recipient, token: chain.tokens.USDC, amountAtomic: 11n }
  await expect(chain.oracle.checkMovedOnce([movement])).rejects.toThrow('due 1 times, moved 0 times')
  await chain.send(recipient, 11n, 'USDC')
  await chain.oracle.checkMovedOnce([movement])
  await chain.send(recipient, 11n, 'USDC')
  await expect(chain.oracle.checkMovedOnce([movement])).rejects.toThrow('due 1 times, moved 2 times')
  await chain.oracle.checkMovedOnce([movement, movement])
})

it('ignores the transfers of a failed transaction', async () => {
  const spender = devAccounts[1]!.address
  const data = `0xa9059cbb${recipient.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
  const before = await chain.oracle.transfers({ to: recipient })
  await chain.rpc('eth_sendTransaction', [{ from: spender, to: chain.tokens.USDC, data, gas: '0x186a0' }])
  expect(await chain.oracle.transfers({ to: recipient })).toEqual(before)
  const [failed] = await chain.oracle.transactions(spender)
  expect(failed).toMatchObject({ success: false, nonce: 0 })
  expect(await chain.oracle.balanceOf(spender)).toBe(10n ** 22n - failed!.feeAtomic)
})

it('follows a reorg', async () => {
  const lost = '0x0000000000000000000000000000000000001057'
  await chain.send(lost, 3n)
  expect(await chain.oracle.balanceOf(lost)).toBe(3n)
  await chain.reorg(1)
  expect(await chain.oracle.transfers({ to: lost })).toEqual([])
  expect(await chain.oracle.balanceOf(lost)).toBe(0n)
})

it('follows a revert to a snapshot', async () => {
  const snapshot = await chain.snapshot()
  const height = await chain.height()
  await chain.mine(3)
  expect(await chain.height()).toBe(height + 3)
  await chain.revert(snapshot)
  expect(await chain.height()).toBe(height)
})

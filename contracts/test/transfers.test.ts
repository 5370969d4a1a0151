import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mined, refusal, send } from './token-calls.ts'
import { people, startTokenChain, type TokenChain, tokenAddress, zeroAddress } from './token-chain.ts'

const { alice, bob, carol, blacklister, pauser } = people
const greatest = 2n ** 256n - 1n
let chain: TokenChain
let snapshot: `0x${string}`
beforeAll(async () => {
  chain = await startTokenChain()
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const balanceOf = (address: `0x${string}`) =>
  chain.client.readContract({ ...chain.token, functionName: 'balanceOf', args: [address] })
const allowance = (owner: `0x${string}`, spender: `0x${string}`) =>
  chain.client.readContract({ ...chain.token, functionName: 'allowance', args: [owner, spender] })

describe('transfer', () => {
  test('moves the whole amount and writes one log', async () => {
    const { events } = await send(chain, alice, 'transfer', [bob.address, 250_000001n])
    expect(events).toEqual([
      { eventName: 'Transfer', args: { from: alice.address, to: bob.address, value: 250_000001n } },
    ])
    expect(await balanceOf(alice.address)).toBe(749_999999n)
    expect(await balanceOf(bob.address)).toBe(250_000001n)
  })

  test('to oneself and of nothing changes no balance', async () => {
    await send(chain, alice, 'transfer', [alice.address, 1_000_000000n])
    await send(chain, alice, 'transfer', [bob.address, 0n])
    expect(await balanceOf(alice.address)).toBe(1_000_000000n)
    expect(await balanceOf(bob.address)).toBe(0n)
  })

  test('of one unit more than owned is refused, and moves nothing when it is mined all the same', async () => {
    expect(await refusal(chain, alice, 'transfer', [bob.address, 1_000_000001n])).toBe(
      'ERC20: transfer amount exceeds balance',
    )
    expect(await mined(chain, alice, 'transfer', [bob.address, greatest])).toBe(false)
    expect(await balanceOf(alice.address)).toBe(1_000_000000n)
  })

  test('to the zero address or to the token is refused', async () => {
    expect(await refusal(chain, alice, 'transfer', [zeroAddress, 1n])).toBe(
      'ERC20: transfer to the zero address',
    )
    await send(chain, blacklister, 'unBlacklist', [tokenAddress])
    expect(await refusal(chain, alice, 'transfer', [tokenAddress, 1n])).toBe(
      'Blacklistable: account is blacklisted',
    )
  })

  test('costs between 35k and 65k gas, to a new account and to a known one', async () => {
    const toNew = await send(chain, alice, 'transfer', [bob.address, 1_000000n])
    const toKnown = await send(chain, alice, 'transfer', [bob.address, 1_000000n])
    expect(Number(toNew.gasUsed)).toBeGreaterThan(50_000)
    expect(Number(toNew.gasUsed)).toBeLessThan(65_000)
    expect(Number(toKnown.gasUsed)).toBeGreaterThan(35_000)
    expect(Number(toKnown.gasUsed)).toBeLessThan(50_000)
  })
})

describe('allowance', () => {
  test('approve sets it, transferFrom spends it to the last unit and no further', async () => {
    const { events } = await send(chain, alice, 'approve', [bob.address, 100n])
    expect(events).toEqual([
      { eventName: 'Approval', args: { owner: alice.address, spender: bob.address, value: 100n } },
    ])
    const spent = await send(chain, bob, 'transferFrom', [alice.address, carol.address, 60n])
    expect(spent.events.map(({ eventName }) => eventName)).toEqual(['Transfer'])
    expect(await allowance(alice.address, bob.address)).toBe(40n)
    expect(await refusal(chain, bob, 'transferFrom', [alice.address, carol.address, 41n])).toBe(
      'ERC20: transfer amount exceeds allowance',
    )
    await send(chain, bob, 'transferFrom', [alice.address, carol.address, 40n])
    expect(await balanceOf(carol.address)).toBe(100n)
    expect(await allowance(alice.address, bob.address)).toBe(0n)
  })

  test('does not help beyond the balance, and the greatest one is spent like any other', async () => {
    await send(chain, alice, 'approve', [bob.address, greatest])
    expect(await refusal(chain, bob, 'transferFrom', [alice.address, carol.address, 1_000_000001n])).toBe(
      'ERC20: transfer amount exceeds balance',
    )
    await send(chain, bob, 'transferFrom', [alice.address, carol.address, 1n])
    expect(await allowance(alice.address, bob.address)).toBe(greatest - 1n)
  })

  test('is needed by everybody: even the holder spends one to use transferFrom', async () => {
    expect(await refusal(chain, alice, 'transferFrom', [alice.address, bob.address, 1n])).toBe(
      'ERC20: transfer amount exceeds allowance',
    )
  })

  test('increaseAllowance adds, decreaseAllowance takes away, neither wraps around', async () => {
    await send(chain, alice, 'increaseAllowance', [bob.address, 70n])
    const { events } = await send(chain, alice, 'increaseAllowance', [bob.address, 5n])
    expect(events[0]?.args).toEqual({ owner: alice.address, spender: bob.address, value: 75n })
    await send(chain, alice, 'decreaseAllowance', [bob.address, 74n])
    expect(await allowance(alice.address, bob.address)).toBe(1n)
    expect(await refusal(chain, alice, 'decreaseAllowance', [bob.address, 2n])).toBe(
      'ERC20: decreased allowance below zero',
    )
    expect(await mined(chain, alice, 'increaseAllowance', [bob.address, greatest])).toBe(false)
    expect(await allowance(alice.address, bob.address)).toBe(1n)
  })

  test('cannot be given to the zero address', async () => {
    expect(await refusal(chain, alice, 'approve', [zeroAddress, 1n])).toBe(
      'ERC20: approve to the zero address',
    )
  })
})

describe('a frozen account', () => {
  const frozen = 'Blacklistable: account is blacklisted'

  test('neither sends, receives nor spends, until it is unfrozen', async () => {
    await send(chain, alice, 'approve', [carol.address, 100n])
    const { events } = await send(chain, blacklister, 'blacklist', [carol.address])
    expect(events).toEqual([{ eventName: 'Blacklisted', args: { account: carol.address } }])
    const isFrozen = () =>
      chain.client.readContract({ ...chain.token, functionName: 'isBlacklisted', args: [carol.address] })
    expect(await isFrozen()).toBe(true)
    expect(await refusal(chain, carol, 'transfer', [bob.address, 0n])).toBe(frozen)
    expect(await refusal(chain, alice, 'transfer', [carol.address, 1n])).toBe(frozen)
    expect(await refusal(chain, carol, 'transferFrom', [alice.address, bob.address, 1n])).toBe(frozen)
    expect(await refusal(chain, carol, 'approve', [bob.address, 1n])).toBe(frozen)
    expect(await refusal(chain, alice, 'approve', [carol.address, 1n])).toBe(frozen)
    expect(await refusal(chain, alice, 'increaseAllowance', [carol.address, 1n])).toBe(frozen)
    expect(await refusal(chain, alice, 'decreaseAllowance', [carol.address, 1n])).toBe(frozen)
    const undone = await send(chain, blacklister, 'unBlacklist', [carol.address])
    expect(undone.events).toEqual([{ eventName: 'UnBlacklisted', args: { account: carol.address } }])
    expect(await isFrozen()).toBe(false)
    await send(chain, carol, 'transferFrom', [alice.address, bob.address, 100n])
    expect(await balanceOf(bob.address)).toBe(100n)
  })

  test('is not moved from or to by a third party with an allowance', async () => {
    await send(chain, alice, 'approve', [bob.address, 100n])
    await send(chain, blacklister, 'blacklist', [alice.address])
    expect(await refusal(chain, bob, 'transferFrom', [alice.address, carol.address, 1n])).toBe(frozen)
    await send(chain, blacklister, 'unBlacklist', [alice.address])
    await send(chain, blacklister, 'blacklist', [carol.address])
    expect(await refusal(chain, bob, 'transferFrom', [alice.address, carol.address, 1n])).toBe(frozen)
  })
})

test('a paused token moves nothing and grants nothing, until it is unpaused', async () => {
  await send(chain, alice, 'approve', [bob.address, 100n])
  const { events } = await send(chain, pauser, 'pause', [])
  expect(events).toEqual([{ eventName: 'Pause', args: {} }])
  const paused = 'Pausable: paused'
  expect(await refusal(chain, alice, 'transfer', [bob.address, 1n])).toBe(paused)
  expect(await refusal(chain, bob, 'transferFrom', [alice.address, bob.address, 1n])).toBe(paused)
  expect(await refusal(chain, alice, 'approve', [bob.address, 1n])).toBe(paused)
  expect(await refusal(chain, alice, 'increaseAllowance', [bob.address, 1n])).toBe(paused)
  expect(await refusal(chain, alice, 'decreaseAllowance', [bob.address, 1n])).toBe(paused)
  const undone = await send(chain, pauser, 'unpause', [])
  expect(undone.events).toEqual([{ eventName: 'Unpause', args: {} }])
  await send(chain, alice, 'transfer', [bob.address, 1n])
  expect(await balanceOf(bob.address)).toBe(1n)
})

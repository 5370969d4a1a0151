import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { refusal, send } from './token-calls.ts'
import { people, startTokenChain, type TokenChain, zeroAddress } from './token-chain.ts'

const { alice, bob, masterMinter, minter, blacklister, pauser } = people
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

const read = {
  supply: () => chain.client.readContract({ ...chain.token, functionName: 'totalSupply' }),
  balance: (of: { address: `0x${string}` }) =>
    chain.client.readContract({ ...chain.token, functionName: 'balanceOf', args: [of.address] }),
  allowance: (of: { address: `0x${string}` }) =>
    chain.client.readContract({ ...chain.token, functionName: 'minterAllowance', args: [of.address] }),
  isMinter: (of: { address: `0x${string}` }) =>
    chain.client.readContract({ ...chain.token, functionName: 'isMinter', args: [of.address] }),
}

test('mint creates the amount out of the allowance of the minter, and not a unit beyond it', async () => {
  await send(chain, masterMinter, 'configureMinter', [minter.address, 100n])
  const { events } = await send(chain, minter, 'mint', [bob.address, 70n])
  expect(events).toEqual([
    { eventName: 'Mint', args: { minter: minter.address, to: bob.address, amount: 70n } },
    { eventName: 'Transfer', args: { from: zeroAddress, to: bob.address, value: 70n } },
  ])
  expect([await read.balance(bob), await read.supply(), await read.allowance(minter)]).toEqual([
    70n,
    1_500_000070n,
    30n,
  ])
  expect(await refusal(chain, minter, 'mint', [bob.address, 31n])).toBe(
    'FiatToken: mint amount exceeds minterAllowance',
  )
  await send(chain, minter, 'mint', [bob.address, 30n])
  expect(await read.allowance(minter)).toBe(0n)
})

test('mint of nothing or to the zero address is refused', async () => {
  expect(await refusal(chain, minter, 'mint', [bob.address, 0n])).toBe(
    'FiatToken: mint amount not greater than 0',
  )
  expect(await refusal(chain, minter, 'mint', [zeroAddress, 1n])).toBe('FiatToken: mint to the zero address')
})

test('burn destroys what the minter owns and gives no allowance back', async () => {
  const allowanceBefore = await read.allowance(minter)
  const { events } = await send(chain, minter, 'burn', [499_999999n])
  expect(events).toEqual([
    { eventName: 'Burn', args: { burner: minter.address, amount: 499_999999n } },
    { eventName: 'Transfer', args: { from: minter.address, to: zeroAddress, value: 499_999999n } },
  ])
  expect([await read.balance(minter), await read.supply()]).toEqual([1n, 1_000_000001n])
  expect(await read.allowance(minter)).toBe(allowanceBefore)
  expect(await refusal(chain, minter, 'burn', [2n])).toBe('FiatToken: burn amount exceeds balance')
  expect(await refusal(chain, minter, 'burn', [0n])).toBe('FiatToken: burn amount not greater than 0')
})

test('configureMinter sets the allowance instead of adding to it; removeMinter ends both rights', async () => {
  const configured = await send(chain, masterMinter, 'configureMinter', [bob.address, 5n])
  expect(configured.events).toEqual([
    { eventName: 'MinterConfigured', args: { minter: bob.address, minterAllowedAmount: 5n } },
  ])
  await send(chain, masterMinter, 'configureMinter', [bob.address, 3n])
  expect([await read.isMinter(bob), await read.allowance(bob)]).toEqual([true, 3n])
  await send(chain, bob, 'mint', [bob.address, 2n])
  const removed = await send(chain, masterMinter, 'removeMinter', [bob.address])
  expect(removed.events).toEqual([{ eventName: 'MinterRemoved', args: { oldMinter: bob.address } }])
  expect([await read.isMinter(bob), await read.allowance(bob)]).toEqual([false, 0n])
  expect(await refusal(chain, bob, 'mint', [bob.address, 1n])).toBe('FiatToken: caller is not a minter')
  expect(await refusal(chain, bob, 'burn', [1n])).toBe('FiatToken: caller is not a minter')
})

test('an account that is not a minter cannot mint or burn, nor the master minter itself', async () => {
  for (const account of [alice, masterMinter, people.owner]) {
    expect(await refusal(chain, account, 'mint', [bob.address, 1n])).toBe('FiatToken: caller is not a minter')
    expect(await refusal(chain, account, 'burn', [1n])).toBe('FiatToken: caller is not a minter')
  }
})

test('a frozen minter neither mints nor burns, and nobody mints to a frozen account', async () => {
  const frozen = 'Blacklistable: account is blacklisted'
  await send(chain, blacklister, 'blacklist', [bob.address])
  expect(await refusal(chain, minter, 'mint', [bob.address, 1n])).toBe(frozen)
  await send(chain, blacklister, 'blacklist', [minter.address])
  expect(await refusal(chain, minter, 'mint', [alice.address, 1n])).toBe(frozen)
  expect(await refusal(chain, minter, 'burn', [1n])).toBe(frozen)
})

test('while paused nobody mints, burns or becomes a minter, but a minter can be removed', async () => {
  await send(chain, pauser, 'pause', [])
  expect(await refusal(chain, minter, 'mint', [bob.address, 1n])).toBe('Pausable: paused')
  expect(await refusal(chain, minter, 'burn', [1n])).toBe('Pausable: paused')
  expect(await refusal(chain, masterMinter, 'configureMinter', [bob.address, 1n])).toBe('Pausable: paused')
  await send(chain, masterMinter, 'removeMinter', [minter.address])
  expect(await read.isMinter(minter)).toBe(false)
})

test('the supply cannot pass 2^256', async () => {
  await send(chain, masterMinter, 'configureMinter', [minter.address, 2n ** 256n - 1n])
  await expect(
    chain.client.simulateContract({
      ...chain.token,
      account: minter,
      functionName: 'mint',
      args: [bob.address, 2n ** 256n - 1n],
    }),
  ).rejects.toThrow(/overflow/)
})

import { numberToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runtimeBytecode, stablecoinStorage } from '#sandbox/artifacts/stablecoin'
import { refusal, send } from './token-calls.ts'
import {
  blankAddress,
  openingState,
  people,
  startTokenChain,
  type TokenChain,
  zeroAddress,
} from './token-chain.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startTokenChain()
})
afterAll(() => chain?.stop())

const initializeArgs = [
  openingState.name,
  openingState.symbol,
  openingState.currency,
  openingState.decimals,
  openingState.masterMinter,
  openingState.pauser,
  openingState.blacklister,
  openingState.owner,
] as const

test('the token stands in block 0 with the state that was asked for', async () => {
  const { client, token } = chain
  expect(await client.getBlockNumber()).toBe(0n)
  const read = (
    functionName: 'name' | 'symbol' | 'currency' | 'decimals' | 'version' | 'totalSupply' | 'paused',
  ) => client.readContract({ ...token, functionName })
  expect(await read('name')).toBe('USD Coin')
  expect(await read('symbol')).toBe('USDC')
  expect(await read('currency')).toBe('USD')
  expect(await read('decimals')).toBe(6)
  expect(await read('version')).toBe('2')
  expect(await read('totalSupply')).toBe(1_500_000000n)
  expect(await read('paused')).toBe(false)
  for (const role of ['owner', 'masterMinter', 'pauser', 'blacklister'] as const) {
    expect(await client.readContract({ ...token, functionName: role })).toBe(openingState[role])
  }
  for (const { address, amount } of openingState.balances) {
    expect(await client.readContract({ ...token, functionName: 'balanceOf', args: [address] })).toBe(amount)
  }
  const minter = people.minter.address
  expect(await client.readContract({ ...token, functionName: 'isMinter', args: [minter] })).toBe(true)
  expect(await client.readContract({ ...token, functionName: 'minterAllowance', args: [minter] })).toBe(
    openingState.minters[0]!.allowance,
  )
})

test('a token placed by genesis cannot be initialised again', async () => {
  expect(await refusal(chain, people.stranger, 'initialize', initializeArgs)).toBe(
    'FiatToken: contract is already initialized',
  )
})

test('initialize writes what stablecoinStorage writes, word for word, and works once', async () => {
  const { client } = chain
  await send(chain, people.stranger, 'initialize', initializeArgs, blankAddress)
  const expected = stablecoinStorage({ ...openingState, minters: [], balances: [] })
  expect(Object.keys(expected)).toHaveLength(9)
  for (let index = 0; index < 32; index++) {
    const slot = numberToHex(index, { size: 32 })
    const word = await client.getStorageAt({ address: blankAddress, slot })
    expect([slot, word]).toEqual([slot, expected[slot] ?? numberToHex(0, { size: 32 })])
  }
  expect(await refusal(chain, people.owner, 'initialize', initializeArgs, blankAddress)).toBe(
    'FiatToken: contract is already initialized',
  )
})

test.each([
  [4, 'masterMinter'],
  [5, 'pauser'],
  [6, 'blacklister'],
  [7, 'owner'],
] as const)('initialize refuses a zero address as argument %i, the %s', async (index, role) => {
  const address = '0x00000000000000000000000000000000000c0de5'
  await chain.client.setCode({ address, bytecode: runtimeBytecode })
  const args = initializeArgs.with(index, zeroAddress) as unknown as typeof initializeArgs
  expect(await refusal(chain, people.owner, 'initialize', args, address)).toBe(
    `FiatToken: new ${role} is the zero address`,
  )
})

test('code and storage can be placed on a running chain, of any chain id', async () => {
  const { client } = chain
  const address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
  await client.setCode({ address, bytecode: runtimeBytecode })
  for (const [slot, value] of Object.entries(stablecoinStorage(openingState))) {
    await client.setStorageAt({ address, index: slot as `0x${string}`, value })
  }
  const token = { ...chain.token, address } as const
  const separator = () => client.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' })
  const here = await separator()
  await client.request({ method: 'anvil_setChainId' as never, params: [1] as never })
  // The separator of the deployed token of this name at this address on chain 1, as published.
  expect(await separator()).toBe('0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335')
  await client.request({ method: 'anvil_setChainId' as never, params: [84532] as never })
  expect(await separator()).toBe(here)
})

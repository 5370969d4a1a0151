import { afterAll, beforeAll, expect, test } from 'vitest'
import { openingState, people, startTokenChain, type TokenChain } from './token-chain.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startTokenChain()
})
afterAll(() => chain?.stop())

test('the token stands in block 0 with the state that was asked for', async () => {
  const { client, token } = chain
  expect(await client.getBlockNumber()).toBe(0n)
  expect(await client.readContract({ ...token, functionName: 'name' })).toBe('USD Coin')
  expect(await client.readContract({ ...token, functionName: 'totalSupply' })).toBe(1_500_000000n)
})

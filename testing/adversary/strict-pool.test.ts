import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { rpc } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import { gethRules } from './pool-rules.ts'
import { openStrictPool, type StrictPool } from './strict-pool.ts'

type Hex = `0x${string}`
const gwei = 10n ** 9n
let chain: TestChain
let stop: () => Promise<void>
let pool: StrictPool
let account: ReturnType<typeof privateKeyToAccount>
let keys = 0

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  chain = started.chains[0]!
  stop = () => started.stop()
  pool = await openStrictPool(chain.rpcUrl)
})
afterAll(async () => {
  await pool?.close()
  await stop?.()
})
beforeEach(async () => {
  await pool.wipe()
  keys += 1
  account = privateKeyToAccount(`0x${keys.toString(16).padStart(64, '5')}`)
  await chain.setAutomine(true)
  await chain.send(account.address, 10n ** 18n)
  await until(
    async () => (await rpc(chain.rpcUrl, 'eth_getBalance', [account.address, 'latest'])) !== '0x0',
    'funded',
  )
  await chain.setAutomine(false)
})

const signed = (nonce: number, changes: object = {}) =>
  account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    to: account.address,
    gas: 21_000n,
    maxFeePerGas: 100n * gwei,
    maxPriorityFeePerGas: gwei,
    nonce,
    ...changes,
  })
const send = (raw: Hex) =>
  rpc<Hex>(pool.url, 'eth_sendRawTransaction', [raw]).then(
    () => 'accepted',
    (error: Error) => error.message.replace('eth_sendRawTransaction: ', ''),
  )
const sends = async (nonces: readonly number[]) => {
  const said: string[] = []
  for (const nonce of nonces) said.push(await send(await signed(nonce)))
  return said
}

describe('a strict pool', () => {
  it('accepts a replacement only when both fees are 10 % higher', async () => {
    const fees = (cap: bigint, tip: bigint) => ({ maxFeePerGas: cap, maxPriorityFeePerGas: tip })
    const underpriced = 'replacement transaction underpriced'
    expect(await send(await signed(0))).toBe('accepted')
    expect(await send(await signed(0))).toBe('already known')
    expect(await send(await signed(0, fees(200n * gwei, gwei)))).toBe(underpriced)
    expect(await send(await signed(0, fees(100n * gwei, 2n * gwei)))).toBe(underpriced)
    expect(await send(await signed(0, fees(105n * gwei, (105n * gwei) / 100n)))).toBe(underpriced)
    expect(await send(await signed(0, fees(110n * gwei, (110n * gwei) / 100n - 1n)))).toBe(underpriced)
    expect(await send(await signed(0, fees(110n * gwei, (110n * gwei) / 100n)))).toBe('accepted')
    await chain.mine()
    expect(await chain.oracle.transactions(account.address)).toHaveLength(1)
    expect(pool.avoidable().map(({ rule }) => rule)).toEqual(Array(4).fill('replacement'))
  })

  it('holds 16 executable and 64 waiting transactions of one account', async () => {
    const first = await sends(Array.from({ length: 17 }, (_, nonce) => nonce))
    expect(first.slice(0, 16)).toEqual(Array(16).fill('accepted'))
    expect(first[16]).toMatch(/^account limit exceeded/)
    const waiting = await sends(Array.from({ length: 65 }, (_, index) => 100 + index))
    expect(waiting.slice(0, 64)).toEqual(Array(64).fill('accepted'))
    expect(waiting[64]).toMatch(/^account limit exceeded/)
    await chain.mine()
    expect(await send(await signed(16))).toBe('accepted')
    expect(pool.sends.at(-1)).toMatchObject({ verdict: 'accepted', place: 'executable' })
  })

  it('refuses a low tip or gas limit, an uncovered cost, a used nonce and another chain', async () => {
    expect(await sends([0])).toEqual(['accepted'])
    await chain.mine()
    expect(await send(await signed(0, { value: 1n }))).toMatch(/^nonce too low: next nonce 1, tx nonce 0/)
    // A refusal of bytes that may already be in a block is unavoidable; of bytes never sent it is avoidable.
    expect(pool.sends.at(-1)!.avoidable).toBe(false)
    expect(await send(await signed(1, { maxPriorityFeePerGas: 0n }))).toMatch(/^transaction underpriced/)
    expect(await send(await signed(1, { gas: 20_999n }))).toMatch(/^intrinsic gas too low/)
    expect(await send(await signed(1, { gas: 21_100n, data: '0xffffff' }))).toMatch(/^intrinsic gas too low/)
    expect(await send(await signed(1, { gas: 10n ** 10n }))).toBe('exceeds block gas limit')
    expect(await send(await signed(1, { chainId: 1 }))).toMatch(/^invalid sender/)
    expect(await send('0xdeadbeef')).toMatch(/^rlp/)
    expect(await send(await signed(1, { value: 10n ** 18n }))).toMatch(/^insufficient funds/)
    // Each alone is covered, both together are not.
    expect(await send(await signed(1, { value: 6n * 10n ** 17n }))).toBe('accepted')
    expect(await send(await signed(2, { value: 6n * 10n ** 17n }))).toMatch(/^insufficient funds/)
  })

  it('accepts one transaction of an account that delegates, and none behind a nonce gap', async () => {
    await chain.rpc('anvil_setCode', [account.address, `0xef0100${'11'.repeat(20)}`])
    expect(await sends([1])).toEqual(['gapped-nonce tx from delegated accounts'])
    expect(await sends([0, 1])).toEqual([
      'accepted',
      'in-flight transaction limit reached for delegated accounts',
    ])
  })

  it('drops transactions after a time, at random and when wiped; they may be sent again', async () => {
    const { queuedLifetimeMs } = gethRules
    pool.change({ queuedLifetimeMs: 600 })
    const before = pool.evictions.length
    const dropped = () => pool.evictions.slice(before).map(({ nonce, why }) => [nonce, why])
    expect(await sends([0, 2])).toEqual(['accepted', 'accepted'])
    await until(async () => dropped().length > 0, 'what waits is dropped')
    expect(dropped()).toEqual([[2, 'lifetime']])
    pool.change({ queuedLifetimeMs })
    await pool.wipe()
    expect(dropped().at(-1)).toEqual([0, 'wiped'])
    pool.change({ evictOneIn: 1 })
    expect(await sends([0])).toEqual(['accepted'])
    expect(dropped().at(-1)).toEqual([0, 'random'])
    pool.change({ evictOneIn: 0 })
    expect(await sends([0])).toEqual(['accepted'])
    await chain.mine()
    expect(await chain.oracle.transactions(account.address)).toHaveLength(1)
  })

  it('answers a mixed batch in order, and forgets transactions that a reorg removed', async () => {
    const raw = await signed(0)
    expect(await send(raw)).toBe('accepted')
    await chain.rpc('anvil_dropAllTransactions')
    expect(await send(raw)).toBe('accepted')
    const response = await fetch(pool.url, {
      method: 'POST',
      body: JSON.stringify([
        { jsonrpc: '2.0', id: 'a', method: 'eth_chainId', params: [] },
        { jsonrpc: '2.0', id: 'b', method: 'eth_sendRawTransaction', params: [raw] },
        { jsonrpc: '2.0', id: 'c', method: 'eth_blockNumber', params: [] },
      ]),
    })
    const answers = (await response.json()) as { id: string; error?: { message: string } }[]
    expect(answers.map(({ id, error }) => [id, error?.message])).toEqual([
      ['a', undefined],
      ['b', 'already known'],
      ['c', undefined],
    ])
  })
})

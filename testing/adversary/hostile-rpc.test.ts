import { setTimeout as sleep } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRpc, type Rpc, RpcError } from '#chains/evm/rpc/rpc'
import { type Fault, faults, lineFaults } from '#sandbox/faults/node/node-faults'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import { type HostileRpc, openHostileRpc } from './hostile-rpc.ts'

type Hex = `0x${string}`
const account = privateKeyToAccount(`0x${'6a'.repeat(32)}`)
let chain: TestChain
let stop: () => Promise<void>
let node: HostileRpc
let client: Rpc
let nonce = 0

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  chain = started.chains[0]!
  stop = () => started.stop()
  await chain.send(account.address, 10n ** 18n)
  node = await openHostileRpc(chain.rpcUrl, { seed: 7 })
  client = createRpc(node.url)
})
afterAll(async () => {
  client?.close()
  await node?.close()
  await stop?.()
})
beforeEach(() => node.play())
afterEach(() => {
  vi.restoreAllMocks()
})

const nextSigned = (): Promise<Hex> =>
  account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    to: account.address,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: nonce++,
  })
const isOnChain = async (raw: Hex) => {
  const mined = await chain.oracle.transactions(account.address)
  const { keccak256 } = await import('viem')
  return mined.some(({ hash }) => hash === keccak256(raw))
}

/** Faults that answer before the node has executed the request. */
const before = new Set(['timeOut', 'resetBefore', 'error500', 'error502', 'rateLimited'])

describe('a hostile node', () => {
  it.each(Object.entries<Fault>(lineFaults))('%s spoils one answer', async (key, fault) => {
    node.play({ fault, methods: ['eth_sendRawTransaction'], times: 1 })
    const raw = await nextSigned()
    const applied = node.applied.length
    const sending = client.batch([{ method: 'eth_sendRawTransaction', params: [raw] }], {
      timeoutMs: /TimeOut|timeOut/.test(key) ? 700 : 60_000,
    })
    // One error for a whole batch means that batches are refused: the call is repeated alone.
    const again = before.has(key) || key === 'oneErrorForAll'
    if (key === 'hugeBody' || key === 'oneErrorForAll') await sending
    else await expect(sending).rejects.toThrow()
    // A client may give up before the node has heard it.
    await until(() => node.applied.length > applied, 'the fault is applied')
    expect(node.applied.at(-1)).toMatchObject({ fault: fault.name })
    if (before.has(key)) {
      await sleep(50)
      expect(await isOnChain(raw)).toBe(false)
      await client.call('eth_sendRawTransaction', [raw])
    }
    await until(() => isOnChain(raw), 'the bytes are in a block')
    expect(node.rawTransactions.filter((seen) => seen === raw)).toHaveLength(again ? 2 : 1)
  })

  it('lies about transactions: calls new ones known, accepts ones that it drops, refuses ones that it sends', async () => {
    const raw = await nextSigned()
    const said = async (fault: Fault) => {
      node.play({ fault, times: 1 })
      return client.call('eth_sendRawTransaction', [raw]).catch((error) => (error as Error).message)
    }
    expect(await said(faults.alreadyKnown)).toBe('already known')
    expect(await said(faults.swallowed)).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await isOnChain(raw)).toBe(false)
    expect(await said(faults.nonceTooLowAfter)).toBe('nonce too low')
    await until(() => isOnChain(raw), 'the bytes are in a block')
  })

  it('applies faults by method, count, window and chance, and repeats them for the same seed', async () => {
    // A whole number: sums of fractions are rounded.
    const startedMs = Math.floor(performance.now())
    const clock = vi.spyOn(performance, 'now').mockReturnValue(startedMs)
    node.play(
      { fault: faults.error500, methods: ['eth_chainId'], after: 1, times: 1 },
      { fault: faults.resetBefore, methods: ['eth_gasPrice'], untilMs: 2_000 },
    )
    const goesWell = (method: string, from = client) =>
      from.call(method, []).then(
        () => true,
        () => false,
      )
    expect([
      await goesWell('eth_chainId'),
      await goesWell('eth_chainId'),
      await goesWell('eth_chainId'),
    ]).toEqual([true, false, true])
    clock.mockReturnValue(startedMs + 1_999)
    expect(await goesWell('eth_gasPrice')).toBe(false)
    clock.mockReturnValue(startedMs + 2_000)
    expect(await goesWell('eth_gasPrice')).toBe(true)
    clock.mockRestore()
    const runs = await Promise.all(
      [11, 11, 12].map(async (seed) => {
        const other = await openHostileRpc(chain.rpcUrl, { seed })
        const from = createRpc(other.url)
        other.play({ fault: faults.resetBefore, chance: 0.5 })
        const went: boolean[] = []
        for (let index = 0; index < 24; index++) went.push(await goesWell('eth_chainId', from))
        from.close()
        await other.close()
        return went.join()
      }),
    )
    expect(runs[0]).toBe(runs[1])
    expect(runs[0]).not.toBe(runs[2])
  })

  it('withholds receipts for a number of blocks', async () => {
    const raw = await nextSigned()
    const txHash = await client.call<Hex>('eth_sendRawTransaction', [raw])
    await until(() => isOnChain(raw), 'the bytes are in a block')
    node.play({ fault: faults.nullReceipts(3) })
    const receipt = () => client.call('eth_getTransactionReceipt', [txHash])
    expect(await receipt()).toBeNull()
    await chain.mine(2)
    expect(await receipt()).toBeNull()
    await chain.mine(1)
    expect(await receipt()).toMatchObject({ transactionHash: txHash })
    node.play({ fault: faults.receiptErrors(1) })
    await expect(receipt()).rejects.toBeInstanceOf(RpcError)
  })

  it('lags, stands still and moves its head back and forth', async () => {
    await chain.mine(10)
    const height = await chain.height()
    const head = async () =>
      Number((await client.call<{ number: Hex }>('eth_getBlockByNumber', ['latest', false])).number)
    node.play({ fault: faults.staleHead(4) })
    expect(await head()).toBe(height - 4)
    expect(Number(await client.call('eth_blockNumber', []))).toBe(height - 4)
    expect(await client.call('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])).toBeNull()
    node.play({ fault: faults.frozenHead(5) })
    expect(await head()).toBe(height)
    await chain.mine(4)
    expect(await head()).toBe(height)
    await chain.mine(2)
    expect(await head()).toBe(height + 6)
    node.play({ fault: faults.timeTravel(6) })
    const heads = new Set<number>()
    for (let index = 0; index < 20; index++) heads.add(await head())
    expect(heads.size).toBeGreaterThan(2)
    expect(Math.min(...heads)).toBeGreaterThanOrEqual(height)
    node.play({ fault: faults.wrongChainId(5) })
    expect(await client.call('eth_chainId', [])).toBe('0x5')
  })
})

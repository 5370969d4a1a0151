import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { startTestChains, type TestChain } from '../../../testing/chain.ts'
import { quantity } from '../../../testing/json-rpc.ts'
import { type Lie, type LyingNode, openLyingNode } from '../../../testing/lying-node.ts'
import type { Chain } from '../chain.ts'
import { createEvmChain } from './index.ts'
import { RpcUnreachable } from './rpc.ts'

const receiver = `0x${'7e'.repeat(20)}` as const
const other = `0x${'11'.repeat(32)}` as const
let chain: TestChain
let node: LyingNode
let reader: Chain
let stop: () => Promise<void>
/** A block with a native payment, a payment in USDC and a transaction that failed. */
let number: number

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  stop = started.stop
  chain = started.chains[0]!
  await chain.send(receiver, 1n, 'USDC')
  await chain.setAutomine(false)
  await chain.send(receiver, 5n)
  await chain.send(receiver, 7n, 'USDC')
  await chain.send(chain.tokens.USDC, 9n)
  await chain.mine()
  await chain.setAutomine(true)
  number = await chain.height()
  await chain.mine()
  node = await openLyingNode(chain.rpcUrl)
  reader = createEvmChain({ network: baseSepolia, rpcUrl: node.url, finalityDepth: 1, local: true })
})
afterAll(async () => {
  await reader.close()
  await node.close()
  await stop()
})
beforeEach(() => node.lie(undefined))

const whole = async () => {
  const block = await reader.blockByNumber(number)
  const receipts = await reader.receiptsOf(
    block!.hash,
    block!.transactions.map(({ hash }) => hash),
  )
  return { block: block!, receipts }
}

describe('an honest node', () => {
  it('gives a block with its transactions, transfers and receipts', async () => {
    const { block, receipts } = await whole()
    expect(block.number).toBe(number)
    expect(block.transactions.map(({ valueAtomic }) => valueAtomic)).toEqual([5n, 0n, 9n])
    expect(block.transfers).toMatchObject([
      { to: receiver, amountAtomic: 7n, token: chain.tokens.USDC.toLowerCase() },
    ])
    expect(receipts.map(({ success }) => success).sort()).toEqual([false, true, true])
    const paid = await chain.oracle.transactions(chain.outsider)
    for (const { txHash, feeAtomic } of receipts)
      expect(paid.find(({ hash }) => hash === txHash)?.feeAtomic).toBe(feeAtomic)
  })

  it('gives the same by hash, nothing for a block it does not have, and its head', async () => {
    const { block } = await whole()
    expect(await reader.blockByHash(block.hash)).toEqual(block)
    expect(await reader.blockByNumber(1_000_000)).toBeUndefined()
    expect(await reader.blockByHash(other)).toBeUndefined()
    expect((await reader.head()).number).toBe(number + 1)
  })

  it('is not asked for the logs of an empty block', async () => {
    node.asked.clear()
    await reader.blockByNumber(number + 1)
    expect(node.asked.get('eth_getLogs')).toBeUndefined()
  })

  it('gives balances now and at a block', async () => {
    const { block } = await whole()
    await chain.send(receiver, 3n)
    expect(await reader.balanceOf(receiver)).toBe(8n)
    expect(await reader.balanceOf(receiver, undefined, block.hash)).toBe(5n)
    expect(await reader.balanceOf(receiver, chain.tokens.USDC, block.hash)).toBe(8n)
  })
})

/** What is done to an answer; each must be noticed. */
const blockLies: Record<string, Lie> = {
  'no hash': (method, result) => (method === 'eth_getBlockByNumber' ? { ...result, hash: null } : result),
  'a short hash': (method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, hash: '0x12' } : result,
  'a number that is no quantity': (method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, number: 'latest' } : result,
  'a number beyond all numbers': (method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, number: `0x${'f'.repeat(64)}` } : result,
  'no parent': (method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, parentHash: undefined } : result,
  'no transactions': (method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, transactions: undefined } : result,
  'hashes for transactions': (method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, transactions: [other] } : result,
  'a null for a transaction': (method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, transactions: [null] } : result,
  'a transaction twice': (method, result) =>
    method === 'eth_getBlockByNumber'
      ? { ...result, transactions: [...result.transactions, result.transactions[0]] }
      : result,
  'a negative value': (method, result) => {
    if (method === 'eth_getBlockByNumber') result.transactions[0].value = '-0x1'
    return result
  },
  'a value above 256 bits': (method, result) => {
    if (method === 'eth_getBlockByNumber') result.transactions[0].value = `0x1${'0'.repeat(64)}`
    return result
  },
  'HTML for logs': (method, result) => (method === 'eth_getLogs' ? '<html>' : result),
  'a log of another block': changedLog({ blockHash: other }),
  'a log of an unknown transaction': changedLog({ transactionHash: other }),
  'a log twice': (method, result) => (method === 'eth_getLogs' ? [...result, ...result] : result),
  'a log of a token nobody asked about': changedLog({ address: receiver }),
  'a log of another event': changedLog({ topics: [other, other, other] }),
  'a log with too few topics': (method, result) =>
    method === 'eth_getLogs'
      ? result.map((log: { topics: string[] }) => ({ ...log, topics: log.topics.slice(0, 2) }))
      : result,
  'a log with an amount above 256 bits': changedLog({ data: `0x1${'0'.repeat(64)}` }),
  'a log without an amount': changedLog({ data: '0x' }),
  'a null for a log': (method, result) => (method === 'eth_getLogs' ? [null] : result),
  'a receipt of another block': changedReceipt({ blockHash: other }),
  'a receipt of another transaction': changedReceipt({ transactionHash: other }),
  'a receipt without status': changedReceipt({ status: undefined }),
  'a receipt with a status of 2': changedReceipt({ status: '0x2' }),
  'a receipt without gas': changedReceipt({ gasUsed: null }),
  'no receipt': (method, result) => (method === 'eth_getTransactionReceipt' ? null : result),
}

function changedLog(change: object): Lie {
  return (method, result) =>
    method === 'eth_getLogs' ? result.map((log: object) => ({ ...log, ...change })) : result
}

function changedReceipt(change: object): Lie {
  return (method, result) => (method === 'eth_getTransactionReceipt' ? { ...result, ...change } : result)
}

describe('a lying node', () => {
  it.each(Object.entries(blockLies))('is not believed: %s', async (_, lie) => {
    node.lie(lie)
    await expect(whole()).rejects.toBeInstanceOf(RpcUnreachable)
  })

  it('is not believed when one receipt stands in for another', async () => {
    let first: unknown
    node.lie((method, result) => (method === 'eth_getTransactionReceipt' ? (first ??= result) : result))
    await expect(whole()).rejects.toThrow(/incomplete/)
  })

  it('is asked for receipts when it has no logs where the block says that there are some', async () => {
    node.lie((method, result) => (method === 'eth_getLogs' ? [] : result))
    const { block } = await whole()
    expect(block.transfers).toMatchObject([{ to: receiver, amountAtomic: 7n }])
  })

  it('is not followed to another chain', async () => {
    node.lie((method, result) => (method === 'eth_chainId' ? quantity(1) : result))
    await expect(reader.head()).rejects.toThrow(/is a node of chain 1, not of 84532/)
  })

  it('is not believed about balances and nonces', async () => {
    node.lie(() => '0x')
    await expect(reader.balanceOf(receiver)).rejects.toThrow(/not a quantity/)
    await expect(reader.balanceOf(receiver, chain.tokens.USDC)).rejects.toThrow(/not a quantity/)
    await expect(reader.nonceOf(receiver)).rejects.toThrow(/not a quantity/)
  })
})

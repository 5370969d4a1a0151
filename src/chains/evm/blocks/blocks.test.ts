import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import {
  faults,
  type HostileRpc,
  mutate,
  mutations,
  openHostileRpc,
  type ScriptStep,
  seedsOf,
} from '#testing/adversary/index'
import { type Lie, type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { quantity } from '#testing/platform/json-rpc'
import type { Chain } from '../../chain.ts'
import { createEvmChain } from '../index.ts'
import { NodeUnreachable } from '../rpc/rpc.ts'

const receiver = `0x${'7e'.repeat(20)}` as const
const other = `0x${'11'.repeat(32)}` as const
let chain: TestChain
let node: LyingNode
let reader: Chain
/** Reads the same node as a local one: its logs in separate calls. */
let own: Chain
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
  reader = createEvmChain({
    network: baseSepolia,
    rpcUrl: node.url,
    confirmations: 1,
    finalityDepth: 1,
    local: false,
  })
  own = createEvmChain({
    network: baseSepolia,
    rpcUrl: node.url,
    confirmations: 1,
    finalityDepth: 1,
    local: true,
  })
})
afterAll(async () => {
  await reader.endpoints.close()
  await own.endpoints.close()
  await node.close()
  await stop()
})
beforeEach(() => node.lie(undefined))

const toTopic = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

const whole = async (from = reader) => {
  const block = await from.blocks.byNumber(number)
  const receipts = await from.effects.receiptsOf(
    block!,
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
    const { txHash, logIndex } = block.transfers[0]!
    expect(block.logs).toEqual([
      {
        address: chain.tokens.USDC.toLowerCase(),
        topics: [expect.stringMatching(/^0xddf252ad/), expect.stringContaining('0x'), toTopic(receiver)],
        data: `0x${'7'.padStart(64, '0')}`,
        logIndex,
        txHash,
      },
    ])
    expect(receipts.map(({ success }) => success).sort()).toEqual([false, true, true])
    const paid = await chain.oracle.transactions(chain.outsider)
    for (const { txHash, feeAtomic } of receipts)
      expect(paid.find(({ hash }) => hash === txHash)?.feeAtomic).toBe(feeAtomic)
  })

  it('gives the same by hash, nothing for a block it does not have, and its head', async () => {
    const { block } = await whole()
    expect(await reader.blocks.byHash(block.hash)).toEqual(block)
    expect(await reader.blocks.byNumber(1_000_000)).toBeUndefined()
    expect(await reader.blocks.byHash(other)).toBeUndefined()
    expect((await reader.blocks.head()).number).toBe(number + 1)
  })

  it('is asked for nothing more of an empty block', async () => {
    node.callCounts.clear()
    await reader.blocks.byNumber(number + 1)
    expect([...node.callCounts.keys()]).toEqual(['eth_getBlockByNumber'])
  })

  it('gives balances now and at a block', async () => {
    const { block } = await whole()
    await chain.send(receiver, 3n)
    expect(await reader.balances.of(receiver)).toBe(8n)
    expect(await reader.balances.of(receiver, undefined, block)).toBe(5n)
    expect(await reader.balances.of(receiver, chain.tokens.USDC, block)).toBe(8n)
  })
})

describe('a local node', () => {
  it('gives the same as any other', async () => {
    const { block, receipts } = await whole()
    // A local node is not compared with others, so no content hash is computed.
    const { contentHash: _, ...told } = block
    expect(await whole(own)).toEqual({ block: told, receipts })
  })

  it('is asked for receipts when it has no logs where the block says that there are some', async () => {
    node.lie((method, result) => (method === 'eth_getLogs' ? [] : result))
    const { block } = await whole(own)
    expect(block.transfers).toMatchObject([{ to: receiver, amountAtomic: 7n }])
  })

  const changes: [string, object][] = [
    ['of another block', { blockHash: other }],
    ['of another height', { blockNumber: '0x1' }],
    ['of an unknown transaction', { transactionHash: other }],
    ['of another place', { transactionIndex: '0x7' }],
    ['of an orphaned block', { removed: true }],
    ['of a token nobody asked about', { address: receiver }],
    ['of another event', { topics: [other, other, other] }],
    ['with an amount above 256 bits', { data: `0x1${'0'.repeat(64)}` }],
  ]
  it.each(changes)('is not believed with a log %s', async (_, change) => {
    node.lie((method, result) =>
      method === 'eth_getLogs' ? result.map((log: object) => ({ ...log, ...change })) : result,
    )
    await expect(whole(own)).rejects.toBeInstanceOf(NodeUnreachable)
  })

  it('is not believed when it leaves out one of several logs', async () => {
    await chain.setAutomine(false)
    for (const amount of [1n, 2n, 3n]) await chain.send(receiver, amount, 'USDC')
    await chain.mine()
    await chain.setAutomine(true)
    const height = await chain.height()
    expect((await own.blocks.byNumber(height))!.logs).toHaveLength(3)
    node.lie((method, result) => (method === 'eth_getLogs' ? result.slice(1) : result))
    await expect(own.blocks.byNumber(height)).rejects.toBeInstanceOf(NodeUnreachable)
  })

  it('is asked again for a receipt that it gave of another block, and for no other', async () => {
    const block = (await own.blocks.byNumber(number))!
    const hashes = block.transactions.map(({ hash }) => hash)
    const asked: unknown[] = []
    node.lie((method, result, [param]) => {
      if (method !== 'eth_getTransactionReceipt') return result
      asked.push(param)
      return param === hashes[0] && asked.length <= hashes.length ? { ...result, blockHash: other } : result
    })
    const read = () => own.effects.receiptsOf(block, hashes)
    await expect(read()).rejects.toBeInstanceOf(NodeUnreachable)
    expect((await read()).map(({ txHash }) => txHash)).toEqual(hashes)
    await read()
    expect(asked).toEqual([...hashes, hashes[0]])
  })

  it('is not asked for logs where the block says that there are none', async () => {
    await chain.send(receiver, 1n)
    node.callCounts.clear()
    expect((await own.blocks.byNumber(await chain.height()))!.logs).toEqual([])
    expect(node.callCounts.has('eth_getLogs')).toBe(false)
  })

  it('is not believed with a log twice, and with what is no list', async () => {
    node.lie((method, result) => (method === 'eth_getLogs' ? [...result, ...result] : result))
    await expect(whole(own)).rejects.toBeInstanceOf(NodeUnreachable)
    node.lie((method, result) => (method === 'eth_getLogs' ? '<html>' : result))
    await expect(whole(own)).rejects.toBeInstanceOf(NodeUnreachable)
  })
})

/** Corruptions of an answer; each must be detected. */
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
  'HTML for receipts': (method, result) => (method === 'eth_getBlockReceipts' ? '<html>' : result),
  'HTML for logs': changedLogs(() => '<html>'),
  'a log of another block': changedLog({ blockHash: other }),
  'a log of an unknown transaction': changedLog({ transactionHash: other }),
  'a log twice': changedLogs((logs) => [...logs, ...logs]),
  'a log of a token nobody asked about': changedLog({ address: receiver }),
  'a log of another event': changedLog({ topics: [other, other, other] }),
  'a log with too few topics': changedLogs((logs) =>
    logs.map((log) => ({ ...log, topics: log['topics']!.slice(0, 2) })),
  ),
  'a log with an amount above 256 bits': changedLog({ data: `0x1${'0'.repeat(64)}` }),
  'a log without an amount': changedLog({ data: '0x' }),
  'a log without data': changedLog({ data: null }),
  'a log with half a byte': changedLog({ data: `0x0${'0'.repeat(64)}` }),
  'a log with five topics': changedLogs((logs) =>
    logs.map((log) => ({ ...log, topics: [...log['topics']!, other, other] })),
  ),
  'a null for a log': changedLogs(() => [null]),
  'a receipt of another block': changedReceipt({ blockHash: other }),
  'a receipt of another transaction': changedReceipt({ transactionHash: other }),
  'a receipt without status': changedReceipt({ status: undefined }),
  'a receipt with a status of 2': changedReceipt({ status: '0x2' }),
  'a receipt without gas': changedReceipt({ gasUsed: null }),
  'no receipts': (method, result) => (method === 'eth_getBlockReceipts' ? null : result),
  'a null for a receipt': (method, result) => (method === 'eth_getBlockReceipts' ? [null] : result),
}

type Logs = Record<string, string[]>[]

function changedLogs(change: (logs: Logs) => unknown): Lie {
  return (method, result) =>
    method === 'eth_getBlockReceipts'
      ? result.map((receipt: { logs: Logs }) =>
          receipt.logs.length > 0 ? { ...receipt, logs: change(receipt.logs) } : receipt,
        )
      : result
}

function changedLog(change: object): Lie {
  return changedLogs((logs) => logs.map((log) => ({ ...log, ...change })))
}

function changedReceipt(change: object): Lie {
  return (method, result) =>
    method === 'eth_getBlockReceipts' ? result.map((receipt: object) => ({ ...receipt, ...change })) : result
}

/** Providers that give the receipts of a block at once, and those that give one at a time. */
const providers: [string, ScriptStep[]][] = [
  ['all receipts of a block', []],
  ['one receipt at a time', [{ fault: faults.unknownMethod, methods: ['eth_getBlockReceipts'] }]],
]

describe.each(providers)('a provider that gives %s', (_, script) => {
  let hostile: HostileRpc
  let doubting: Chain
  beforeAll(async () => {
    hostile = await openHostileRpc(chain.rpcUrl, { seed: seedsOf(1)[0]! })
    doubting = createEvmChain({
      network: baseSepolia,
      rpcUrl: hostile.url,
      confirmations: 1,
      finalityDepth: 1,
      local: false,
    })
  })
  afterAll(async () => {
    await doubting.endpoints.close()
    await hostile.close()
  })
  const read = async () => {
    const block = await doubting.blocks.byNumber(number)
    const hashes = block!.transactions.map(({ hash }) => hash)
    return { block: block!, receipts: await doubting.effects.receiptsOf(block!, hashes) }
  }

  it('is read when it is honest', async () => {
    hostile.play(...script)
    expect(await read()).toEqual(await whole())
  })

  it.each(mutations)('property 21: is not believed: $name', async (mutation) => {
    hostile.play({ fault: mutate(mutation) }, ...script)
    await expect(read()).rejects.toBeInstanceOf(NodeUnreachable)
    expect(hostile.applied.some(({ fault }) => fault === mutation.name)).toBe(true)
  })

  it('property 21: is not believed about another chain, nor about a block it was not asked for', async () => {
    hostile.play({ fault: faults.wrongChainId(1) })
    await expect(doubting.blocks.head()).rejects.toThrow(/is a node of chain 1/)
    hostile.play()
    const { hash } = (await doubting.blocks.byNumber(number))!
    node.lie((method, result) => (method === 'eth_getBlockByHash' ? { ...result, hash: other } : result))
    await expect(reader.blocks.byHash(hash)).rejects.toThrow(/was asked for/)
  })
})

describe('a lying node', () => {
  it.each(Object.entries(blockLies))('is not believed: %s', async (_, lie) => {
    node.lie(lie)
    await expect(whole()).rejects.toBeInstanceOf(NodeUnreachable)
  })

  it('is not believed when one receipt stands in for another', async () => {
    node.lie((method, result) => (method === 'eth_getBlockReceipts' ? result.fill(result[0]) : result))
    await expect(whole()).rejects.toThrow(/has no receipt/)
  })

  it('is not followed to another chain', async () => {
    node.lie((method, result) => (method === 'eth_chainId' ? quantity(1) : result))
    await expect(reader.blocks.head()).rejects.toThrow(/is a node of chain 1, not of 84532/)
  })

  it('is not believed about balances and nonces', async () => {
    node.lie(() => '0x')
    await expect(reader.balances.of(receiver)).rejects.toThrow(/not a quantity/)
    await expect(reader.balances.of(receiver, chain.tokens.USDC)).rejects.toThrow(/not a quantity/)
    await expect(reader.lane.nonceOf!(receiver)).rejects.toThrow(/not a quantity/)
  })
})

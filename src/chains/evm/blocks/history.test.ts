import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { quantity } from '#testing/platform/json-rpc'
import type { Chain } from '../../chain.ts'
import type { LogQuery } from '../../facets/blocks.ts'
import { createEvmChain } from '../index.ts'
import { NodeUnreachable } from '../rpc/rpc.ts'

const topic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const receiver = `0x${'7e'.repeat(20)}` as const
const other = `0x${'11'.repeat(32)}` as const

let chain: TestChain
let node: LyingNode
let reader: Chain
let query: LogQuery
let stop: () => Promise<void>

const settings = { network: baseSepolia, confirmations: 1, finalityDepth: 1, local: false }

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  stop = started.stop
  chain = started.chains[0]!
  for (let amount = 1n; amount <= 3n; amount++) await chain.send(receiver, amount, 'USDC')
  await chain.mine(2)
  node = await openLyingNode(chain.rpcUrl)
  reader = createEvmChain({ ...settings, rpcUrl: node.url })
  query = { address: chain.tokens.USDC.toLowerCase(), topic, from: 1, to: await chain.height() }
})
afterEach(() => node.lie(undefined))
afterAll(async () => {
  await reader.endpoints.close()
  await node.close()
  await stop()
})

// biome-ignore lint/suspicious/noExplicitAny: a lie may have any shape
const lieAboutLogs = (change: (logs: any[]) => unknown) =>
  node.lie((method, result) => (method === 'eth_getLogs' ? change(result) : result))

it('reads the logs of a range as the chain has them, whether or not logs repeat the time of their block', async () => {
  const range = { fromBlock: '0x1', toBlock: quantity(query.to) }
  // biome-ignore lint/suspicious/noExplicitAny: as the node writes them
  const given = await chain.rpc<any[]>('eth_getLogs', [{ address: query.address, topics: [topic], ...range }])
  const expected = await Promise.all(
    given.map(async ({ address, topics, data, logIndex, transactionHash, blockHash, blockNumber }) => {
      const { timestamp } = await chain.rpc<{ timestamp: string }>('eth_getBlockByHash', [blockHash, false])
      return {
        address,
        topics,
        data,
        logIndex: Number(logIndex),
        txHash: transactionHash,
        blockHash,
        blockNumber: Number(blockNumber),
        blockTimeMs: Number(timestamp) * 1_000,
      }
    }),
  )
  expect(expected.length).toBeGreaterThanOrEqual(4)
  const head = await reader.blocks.head()
  expect(await reader.contracts!.logHistory(query)).toEqual({ kind: 'read', logs: expected, last: head })
  lieAboutLogs((logs) => logs.map(({ blockTimestamp, ...log }) => log))
  expect(await reader.contracts!.logHistory(query)).toEqual({ kind: 'read', logs: expected, last: head })
})

it('property 21: believes no logs that contradict the question, each other or the last block', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a lie may have any shape
  const onFirst = (change: object) => (logs: any[]) => [{ ...logs[0], ...change }, ...logs.slice(1)]
  // biome-ignore lint/suspicious/noExplicitAny: a lie may have any shape
  const lies: ((logs: any[]) => unknown)[] = [
    onFirst({ address: receiver }),
    onFirst({ topics: [other] }),
    onFirst({ topics: 'none' }),
    onFirst({ removed: true }),
    onFirst({ blockNumber: quantity(query.to + 1) }),
    onFirst({ blockNumber: '0x0' }),
    onFirst({ blockHash: '0x12' }),
    onFirst({ data: '0x1' }),
    onFirst({ logIndex: '-1' }),
    onFirst({ transactionHash: null }),
    (logs) => [...logs, logs.at(-1)],
    (logs) => logs.toReversed(),
    (logs) => [...logs, { ...logs.at(-1), blockNumber: quantity(query.to), blockHash: other }],
    () => null,
    () => ({ length: 0 }),
  ]
  for (const lie of lies) {
    lieAboutLogs(lie)
    await expect(reader.contracts!.logHistory(query), String(lie)).rejects.toBeInstanceOf(NodeUnreachable)
  }
  node.lie((method, result) => (method === 'eth_getBlockByNumber' ? null : result))
  await expect(reader.contracts!.logHistory(query)).rejects.toThrow(/has no block/)
  node.lie((method, result) =>
    method === 'eth_getBlockByNumber' ? { ...result, number: quantity(1) } : result,
  )
  await expect(reader.contracts!.logHistory(query)).rejects.toThrow(/in place of/)
  node.lie((method, result) => (method === 'eth_chainId' ? '0x1' : result))
  await expect(reader.contracts!.logHistory(query)).rejects.toThrow(/another chain/)
})

it('property 21: needs the agreement of endpoints on logs that one of them leaves out', async () => {
  const several = createEvmChain({
    ...settings,
    rpcUrl: node.url,
    rpcUrls: [node.url, chain.rpcUrl],
    agree: 2,
  })
  try {
    expect((await several.contracts!.logHistory(query)).kind).toBe('read')
    lieAboutLogs((logs) => logs.slice(1))
    await expect(several.contracts!.logHistory(query)).rejects.toThrow(/do not agree on old logs/)
  } finally {
    await several.endpoints.close()
  }
})

it('tells a refused range from a rate limit, and leaves the health of the endpoint alone', async () => {
  const answering = (code: number, message: string) =>
    chain.intercept(async ({ body }) => {
      const calls = [JSON.parse(body.toString())].flat()
      if (!calls.some(({ method }) => method === 'eth_getLogs')) return 'forward'
      const error = { code, message }
      return { body: JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))) }
    })
  try {
    answering(-32005, 'query returned more than 10000 results')
    expect(await reader.contracts!.logHistory(query)).toMatchObject({ kind: 'refused' })
    answering(-32602, 'block range is too large')
    expect(await reader.contracts!.logHistory(query)).toMatchObject({ kind: 'refused' })
    answering(429, 'too many requests')
    await expect(reader.contracts!.logHistory(query)).rejects.toThrow()
  } finally {
    chain.intercept(undefined)
  }
  expect(reader.endpoints.health().map(({ errorsRatio }) => errorsRatio)).toEqual([0])
})

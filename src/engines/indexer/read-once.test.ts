/** A worker process reads receipts and logs of a block once: they are the largest answers of a node, and providers bill them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { transferActions } from '#testing/builders/transfers'
import type { Wallet } from '#testing/builders/world'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { shortFinalityNetwork } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const { blockchain, confirmations } = shortFinalityNetwork
/** From a local node, receipts are requested one by one of a few wallets, and at once of so many. */
const kinds: Record<string, { local: boolean; endpoints: number; senders: number }> = {
  'a local node': { local: true, endpoints: 1, senders: 21 },
  'one endpoint': { local: false, endpoints: 1, senders: 3 },
  'three endpoints': { local: false, endpoints: 3, senders: 3 },
}

/** An endpoint, and what was read from it of each block, by its hash. */
type Watched = { node: LyingNode; reads: Map<string, string[]> }

describe.each(Object.entries(kinds))('%s', (_, { local, endpoints, senders }) => {
  let harness: Harness
  let on: ReturnType<typeof transferActions>
  let wallet: Wallet
  const watched: Watched[] = []
  /** Changes an answer; called before the answer counts as read. */
  let bend: (method: string, blockHash: string) => 'fail' | 'empty' | undefined = () => undefined

  const watch = async (rpcUrl: string) => {
    const node = await openLyingNode(rpcUrl)
    const reads = new Map<string, string[]>()
    node.lie((method, result, params) => {
      const read = readOf(method, result, params)
      if (!read) return result
      const change = bend(method, read.blockHash)
      if (change === 'fail') return '<html>'
      reads.set(read.blockHash, [...(reads.get(read.blockHash) ?? []), read.what])
      return change === 'empty' ? [] : result
    })
    watched.push({ node, reads })
  }

  beforeAll(async () => {
    harness = await openHarness({
      blockchains: [blockchain],
      node: async ({ rpcUrl }) => {
        for (let index = 0; index < endpoints; index++) await watch(rpcUrl)
        const rpcUrls = watched.map(({ node }) => node.url)
        return { rpcUrl: rpcUrls[0]!, rpcUrls, local }
      },
    })
    on = transferActions(harness)
    wallet = await on.fundedWallet({ usdc: '10', native: '1' })
  })
  afterAll(async () => {
    await harness?.close()
    for (const { node } of watched) await node.close()
  })
  beforeEach(() => {
    bend = () => undefined
    for (const { reads } of watched) reads.clear()
  })

  const bookedAtomic = async () =>
    (await on.booked(wallet)).reduce((sum, { postedAtomic }) => sum + postedAtomic, 0n)
  const pay = (amountAtomic: bigint) => harness.chain().send(wallet.address, amountAtomic, 'USDC')

  /** Blocks with a payment each, while the engines stand still; returns their hashes. */
  async function blocksOfPayments(count: number, amountAtomic: bigint): Promise<string[]> {
    const hashes: string[] = []
    for (let index = 0; index < count; index++) {
      await pay(amountAtomic)
      const { hash } = await harness.chain().rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
      hashes.push(hash)
    }
    return hashes
  }

  function expectReadOnce(blockHashes: readonly string[]): void {
    for (const blockHash of blockHashes) expect(watched.some(({ reads }) => reads.has(blockHash))).toBe(true)
    for (const { reads } of watched) expect([...reads].filter(([, whats]) => hasTwice(whats))).toEqual([])
  }

  it('with transactions of many wallets and payments to them in one block', async () => {
    const chain = harness.chain()
    const funded = () => on.fundedWallet({ usdc: '10', native: '1' })
    const wallets = await Promise.all(Array.from({ length: senders }, funded))
    await chain.setAutomine(false)
    const ids = await Promise.all(wallets.map((each) => on.transfer(each)))
    await until(async () => (await on.statesOf(ids)).every((state) => state === 'SENT'), 'all are sent')
    for (const { address } of wallets.slice(0, 3)) {
      await chain.send(address, 1_000n, 'USDC')
      await chain.send(address, 1_000n)
    }
    await chain.mine()
    await chain.setAutomine(true)
    const { hash } = await chain.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    await chain.mine(confirmations)
    for (const id of ids) await on.reaches(id, 'COMPLETE')
    expectReadOnce([hash])
  })

  it('when a block between them cannot be read at first', async () => {
    const before = await bookedAtomic()
    await harness.stopEngines()
    const hashes = await blocksOfPayments(6, 1n)
    let failures = 2
    bend = (_, blockHash) => (blockHash === hashes[2] && failures-- > 0 ? 'fail' : undefined)
    harness.startEngines()
    await until(async () => (await bookedAtomic()) === before + 6n, 'all payments are booked')
    expect(failures).toBeLessThan(1)
    expectReadOnce(hashes)
  })

  it('when blocks replace others', async () => {
    const before = await bookedAtomic()
    const snapshot = await harness.chain().snapshot()
    for (let index = 0; index < 3; index++) await pay(1n)
    await until(async () => (await bookedAtomic()) === before + 3n, 'the first payments are booked')
    await harness.stopEngines()
    await harness.chain().revert(snapshot)
    const hashes = await blocksOfPayments(4, 5n)
    harness.startEngines()
    await until(async () => (await bookedAtomic()) === before + 20n, 'the other payments are booked')
    expectReadOnce(hashes)
  })

  it('when a node has no logs at first', async () => {
    const before = await bookedAtomic()
    bend = (method) => (method === 'eth_getLogs' ? 'empty' : undefined)
    await on.transfer(wallet, { amounts: ['0.000001'] })
    const hashes = await blocksOfPayments(1, 3n)
    await until(async () => (await bookedAtomic()) < before, 'the transfer and its fee are booked')
    expectReadOnce(hashes)
  })

  it('when the books are compared with the chain at a block, and differ', async () => {
    const { ctx } = harness
    const chain = ctx.chains.find(blockchain)!
    await blocksOfPayments(confirmations + 1, 1n)
    const hashes = watched.flatMap(({ reads }) => [...reads.keys()])
    await harness.chain().rpc('anvil_setBalance', [wallet.address, '0x1'])
    await blocksOfPayments(confirmations + 1, 1n)
    const gapsOf = async () => (await reconcile({ ...ctx, db: ctx.database }, chain)).gaps
    await until(async () => (await gapsOf()).length > 0, 'the books differ')
    await gapsOf()
    expectReadOnce(hashes)
  })
})

/** Receipts and logs in an answer; the block is named by the question or by what is in it. */
// biome-ignore lint/suspicious/noExplicitAny: every answer has its own shape
function readOf(method: string, result: any, [param]: readonly any[]) {
  if (method === 'eth_getBlockReceipts') return { blockHash: param as string, what: 'all receipts' }
  if (method === 'eth_getLogs') return { blockHash: String(param.blockHash), what: 'logs' }
  if (method === 'eth_getTransactionReceipt' && result !== null)
    return { blockHash: result.blockHash as string, what: `receipt ${param}` }
  return undefined
}

/** Whether something was read twice, or a receipt once more than with all of them. */
const hasTwice = (whats: readonly string[]) =>
  new Set(whats).size < whats.length ||
  (whats.includes('all receipts') && whats.some((what) => what.startsWith('receipt ')))

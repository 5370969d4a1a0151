import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { sql } from '#runtime/db/db'
import { sandboxEntity } from '#sandbox/credentials'
import { checkLedger, ledgerBalances } from '#testing/builders/ledger-checks'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { quantity } from '#testing/platform/json-rpc'
import {
  blockchain,
  insertManagedAddresses,
  openTestIndexer,
  randomAddress,
  type TestIndexer,
  untilIndexed,
} from '#testing/platform/test-indexer'
import { until } from '#testing/platform/until'
import { reconcile, startReconciler, syncBalances } from './index.ts'

const usdc = baseSepolia.tokens.find(({ symbol }) => symbol === 'USDC')!
let chain: TestChain
let node: LyingNode
let indexing: TestIndexer
let stopChains: () => Promise<void>
let address: string
let wrongReads: number

beforeAll(async () => {
  const started = await startTestChains({ blockchains: [blockchain] })
  stopChains = started.stop
  chain = started.chains[0]!
  node = await openLyingNode(chain.rpcUrl)
  indexing = await openTestIndexer({ rpcUrl: node.url })
})
afterAll(async () => {
  await checkLedger(indexing.database)
  await indexing.close()
  await node.close()
  await stopChains()
})
beforeEach(async () => {
  indexing.start()
  address = randomAddress()
  await insertManagedAddresses(indexing.database, indexing.ctx, [address])
  await chain.send(address, 7n, 'USDC')
  await untilIndexed(indexing, chain.rpcUrl)
})

/**
 * Answers two reads of the address's balance with the state of the next block, which pays it 5 more, and reports that
 * block after the second, as a node does whose reads wait for the block that it executes.
 */
const executeNextBlock = async () => {
  wrongReads = 0
  const { hash } = await chain.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
  node.lie(async (method, result, [call, at]) => {
    const isAsked = method === 'eth_call' && call.to.toLowerCase() === usdc.address.toLowerCase()
    if (!isAsked || !call.data.includes(address.slice(2)) || wrongReads === 2 || at.blockHash !== hash)
      return result
    wrongReads += 1
    if (wrongReads === 2) await chain.send(address, 5n, 'USDC')
    return `0x${quantity(BigInt(result) + 5n)
      .slice(2)
      .padStart(64, '0')}`
  })
}
const bookedUsdc = async () => (await ledgerBalances(indexing.database, blockchain))[`${address} USDC`]
const gaps = () => indexing.database.all(sql`select booked, on_chain from reconciliation_gaps`)

it('property 135: a balance of the block that a node executes is not booked into the block before', async () => {
  await indexing.stop()
  await executeNextBlock()
  await syncBalances(indexing.ctx, indexing.ctx.chains.list()[0]!, { entityId: sandboxEntity.id, address })
  expect([wrongReads, await bookedUsdc()]).toEqual([2, '7'])
  indexing.start()
  await untilIndexed(indexing, chain.rpcUrl)
  expect(await bookedUsdc()).toBe('12')
})

it('property 135: a comparison does not mix the books of a block with the balances of the next', async () => {
  await indexing.stop()
  await executeNextBlock()
  const proof = await reconcile(indexing.ctx, indexing.ctx.chains.list()[0]!)
  expect([wrongReads, proof.gaps]).toEqual([2, []])
})

it('property 135: a worker that compares meanwhile raises no alarm', async () => {
  await indexing.stop()
  await chain.mine()
  const number = Number(await chain.rpc('eth_blockNumber', []))
  await executeNextBlock()
  indexing.start()
  const comparing = startReconciler(indexing.ctx)
  const compared = () =>
    indexing.database.all(sql`select 1 from reconciliations where block_number >= ${number}`)
  await until(async () => (await compared()).length > 0, 'the comparison is over')
  await comparing.stop()
  expect([wrongReads, await gaps()]).toEqual([2, []])
})

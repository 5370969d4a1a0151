/** A configured chain whose node reports finalized blocks: these are final, however many confirmations others have. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { networks } from '#chains/networks/index'
import { createChains } from '#chains/registry'
import { confirmedHeights } from '#engines/indexer/confirmations'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { shortFinalityNetwork } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { quantity } from '#testing/platform/json-rpc'
import { mineUntil, until } from '#testing/platform/until'

let harness: Harness
let node: LyingNode
let finalizedNumber = 0

const isTag = (key: unknown) => key === 'finalized' || key === 'safe'

beforeAll(async () => {
  harness = await openHarness({
    blockchains: [shortFinalityNetwork.blockchain],
    node: async (chain) => {
      node = await openLyingNode(chain.rpcUrl)
      node.lie((method, result, [key]) =>
        method === 'eth_getBlockByNumber' && isTag(key)
          ? chain.rpc(method, [quantity(finalizedNumber), false])
          : result,
      )
      return { local: false, rpcUrl: node.url }
    },
  })
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

it('property 20: a reorg reopens a complete transfer that is not final; it can be accelerated, and pays once', async () => {
  const on = transferActions(harness)
  const chain = harness.chain()
  const wallet = await on.fundedWallet()
  finalizedNumber = await chain.height()
  const to = freshAddress()
  const id = await on.transfer(wallet, { destinationAddress: to })
  const { blockHeight } = await on.reaches(id, 'CONFIRMED')
  await chain.mine(shortFinalityNetwork.confirmations)
  await on.reaches(id, 'COMPLETE')
  await chain.setAutomine(false)
  await chain.reorg((await chain.height()) - blockHeight! + 1)
  await chain.mine()
  await on.reaches(id, 'SENT')
  expect(await on.held(wallet)).toBeGreaterThan(0n)
  expect((await on.ask(id, 'accelerate')).status).toBe(200)
  await on.sent(id, 'bump')
  await chain.setAutomine(true)
  await chain.mine(1 + shortFinalityNetwork.confirmations)
  await on.reaches(id, 'COMPLETE')
  const grants = () => harness.database.all(sql`select 1 from grants where intent_id = ${id}`)
  expect(await grants()).toHaveLength(1)
  finalizedNumber = await chain.height()
  await mineUntil(chain, async () => (await grants()).length === 0, 'nobody can sign it any more')
  await chain.oracle.checkMovedOnce([{ to, token: chain.tokens.USDC, amountAtomic: 500_000n }])
  await chain.oracle.checkNonces(wallet.address)
  await checkLedger(harness.database)
  expect(await on.held(wallet)).toBe(0n)
  const told = await harness.database.all<{
    type: string
  }>(sql`select type from events where resource_id = ${id}
    and type in ('transaction.complete', 'transaction.sent') order by create_date, id`)
  expect(told.map(({ type }) => type.replace('transaction.', ''))).toEqual(
    expect.arrayContaining(['sent', 'complete', 'sent', 'complete']),
  )
})

it('property 20: without the finalized tag a block is final at the depth of its network, not before its confirmations', async () => {
  const network = networks.find(({ blockchain }) => blockchain === 'ETH-SEPOLIA')!
  const plain = await openLyingNode(harness.chain().rpcUrl)
  const telling = (answer: unknown) =>
    plain.lie((method, result, [key]) => {
      if (method === 'eth_chainId') return quantity(network.chainId)
      return isTag(key) ? answer : result
    })
  telling(null)
  const chains = createChains([{ network, rpcUrl: plain.url, local: false }])
  const [chain] = chains.list()
  const block = { ...(await chain!.blocks.head()), number: 500, transactions: [], logs: [], transfers: [] }
  const depths = () => confirmedHeights(harness.ctx, chain!, block)
  expect(await depths()).toEqual({ completeTo: 489, finalTo: 405 })
  // A node that served the tag and no longer does is faulty: its chain does not fall back to the depth.
  telling({ number: quantity(499), hash: `0x${'0'.repeat(64)}` })
  await until(async () => (await depths()).finalTo === 489, 'the tag is read')
  telling(null)
  await until(async () => (await depths()).finalTo === undefined, 'the tag is gone')
  await chain!.endpoints.close()
  await plain.close()
})

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { createLog, type Log } from '#runtime/log/log'
import { checkLedger } from '#testing/builders/ledger-checks'
import { openLyingNode } from '#testing/nodes/lying-node'
import { shortFinalityNetwork, startTestChains, type TestChain } from '#testing/platform/chain'
import { quantity, rpcBatch } from '#testing/platform/json-rpc'
import {
  blockchain,
  chainTransfers,
  indexedState,
  indexedTransfers,
  indexFromScratch,
  insertManagedAddresses,
  openTestIndexer,
  randomAddress,
  type TestIndexer,
  untilIndexed,
} from '#testing/platform/test-indexer'
import { mineUntil, until } from '#testing/platform/until'
import { programFile } from '#testing/processes/programs'
import { isDeep, sizeOf } from '#testing/runner/size'
import { applyBlock } from './apply-block.ts'
import { openReadAhead } from './read-ahead.ts'
import { canonicalHead } from './store/blocks.ts'
import { highestFinal } from './store/steps.ts'

let chain: TestChain
let indexing: TestIndexer
let stopChains: () => Promise<void>
const address = randomAddress()
const missedBlocks = sizeOf('MISSED_BLOCKS', { usual: 40, deep: 2_000 })
const arrivals = isDeep ? 60 : 6
const refusedArrivals = isDeep ? 12 : 4
const blockTransfers = isDeep ? 2_000 : 200
const racedBlocks = isDeep ? 20 : 6

beforeAll(async () => {
  const started = await startTestChains({ blockchains: [blockchain], gasLimit: 1_000_000_000n })
  stopChains = started.stop
  chain = started.chains[0]!
  indexing = await openTestIndexer({ rpcUrl: chain.rpcUrl })
  await insertManagedAddresses(indexing.database, indexing.ctx, [address])
  await chain.send(address, 1n, 'USDC')
})
beforeEach(async () => {
  indexing.start()
  await untilIndexed(indexing, chain.rpcUrl)
})
afterAll(async () => {
  await untilIndexed(indexing, chain.rpcUrl)
  await checkLedger(indexing.database)
  expect(await indexedState(indexing.database)).toEqual(await indexFromScratch(indexing, chain.rpcUrl))
  await indexing.close()
  await stopChains()
})

const isVisible = async (txHash: string, where = indexing) =>
  (await where.database.maybe(sql`select 1 from observed_transfers where tx_hash = ${txHash}`)) !== undefined

/** Checks that each block of the chain was applied once: two concurrent followers did not interfere. */
async function appliedOnce(where = indexing): Promise<void> {
  const twice = await where.database.all(sql`select block_hash from block_steps where kind = 'applied'
    group by 1 having count(*) > 1`)
  expect(twice).toEqual([])
}

/** The number of the block that holds it; a node may answer before it has mined. */
async function minedIn(where: TestChain, txHash: string): Promise<number> {
  const receipt = () => where.rpc<{ blockNumber: string } | null>('eth_getTransactionReceipt', [txHash])
  await until(async () => (await receipt()) !== null, 'the transaction is mined')
  return Number((await receipt())!.blockNumber)
}

it('property 23: applies every block that was mined while the indexer was stopped', async () => {
  const every = 10
  await indexing.stop()
  for (let mined = 0; mined < missedBlocks; mined += every) {
    await chain.send(address, BigInt(1 + mined))
    await chain.mine(every - 1)
  }
  indexing.start()
  await untilIndexed(indexing, chain.rpcUrl)
  expect(await indexedTransfers(indexing.database, address)).toEqual(
    await chainTransfers(chain.oracle, address),
  )
  const numbers = await indexing.database.all(sql`select number from blocks where canonical order by number`)
  expect(numbers).toEqual(Array.from({ length: (await chain.height()) + 1 }, (_, number) => ({ number })))
  await appliedOnce()
})

it('the API lists inbound transfers', async () => {
  for (let index = 0; index < arrivals; index++) {
    const txHash = await chain.send(address, 1n, index % 2 === 0 ? 'USDC' : undefined)
    await until(() => isVisible(txHash), 'the transfer is seen')
  }
})

it('applies a block of many transfers to as many managed addresses at once', async () => {
  const crowd = Array.from({ length: blockTransfers }, randomAddress)
  await insertManagedAddresses(indexing.database, indexing.ctx, crowd)
  await indexing.stop()
  await chain.setAutomine(false)
  const nonce = Number(await chain.rpc('eth_getTransactionCount', [chain.outsider, 'latest']))
  const calls = crowd.map((to, index) => ({
    method: 'eth_sendTransaction',
    params: [
      {
        from: chain.outsider,
        to: chain.tokens.USDC,
        data: `0xa9059cbb${to.slice(2).padStart(64, '0')}${'5'.padStart(64, '0')}`,
        gas: quantity(100_000),
        nonce: quantity(nonce + index),
      },
    ],
  }))
  await rpcBatch(chain.rpcUrl, calls)
  await chain.mine()
  await chain.setAutomine(true)
  const [known] = indexing.ctx.chains.list()
  const parent = await canonicalHead(indexing.database, blockchain)
  const block = await known!.blocks.byNumber(parent!.number + 1)
  expect(block!.transfers).toHaveLength(blockTransfers)
  expect(await applyBlock(indexing.ctx, known!, block!, parent)).toBe(true)
  // A second process with the same block writes nothing.
  expect(await applyBlock(indexing.ctx, known!, block!, parent)).toBe(false)
})

it('follows new heads without a WebSocket, and after refused connections', async () => {
  const node = await openLyingNode(chain.rpcUrl)
  await indexing.stop()
  const polling = await openTestIndexer({ rpcUrl: node.url, connection: indexing.connection })
  polling.start()
  await untilIndexed(polling, chain.rpcUrl)
  const txHash = await chain.send(address, 3n)
  await until(() => isVisible(txHash), 'a transfer is seen by polling')
  let state = 1
  const oneIn = (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 16) % sides === 0
  }
  node.lie((method, result) => {
    if (oneIn(5)) throw new Error('the connection is closed unanswered')
    return method === 'eth_getLogs' && oneIn(3) ? 'nonsense' : result
  })
  const more: string[] = []
  for (let index = 0; index < refusedArrivals; index++) more.push(await chain.send(address, 1n, 'USDC'))
  const all = async () => (await Promise.all(more.map((hash) => isVisible(hash)))).every(Boolean)
  await until(all, 'all are seen')
  await polling.close()
  await node.close()
  await appliedOnce()
})

describe('several indexers', () => {
  const processes: ChildProcess[] = []
  afterAll(() => {
    for (const child of processes) child.kill('SIGKILL')
  })
  const startProcess = async (options: object) => {
    const args = [await programFile('indexer'), JSON.stringify(options)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    processes.push(child)
    await once(child.stdout!, 'data')
    return child
  }
  const leaders = () =>
    indexing.database.all<{ holder: string }>(sql`select holder from chain_leases where lease_until > now()`)

  /** Notes who takes a lease that has not ended; the lease of a process that stood still for seconds may be taken. */
  const noteTheft = `create table stolen_leases (holder text);
    create function note_theft() returns trigger language plpgsql security definer as
      'begin insert into stolen_leases values (new.holder); return null; end';
    create trigger theft after update on chain_leases for each row
      when (old.holder <> new.holder and old.lease_until >= now()) execute function note_theft()`

  it('apply each block once, and another takes over within seconds when the leader is killed', async () => {
    await indexing.stop()
    const owner = openAsOwner(indexing.connection)
    await owner.script(noteTheft)
    const options = { rpcUrl: chain.rpcUrl, connection: indexing.connection }
    const first = await startProcess(options)
    let leader: { holder: string } | undefined
    await until(async () => ([leader] = await leaders()).length === 1, 'the first process leads')
    indexing.start()
    const before = await chain.send(address, 2n)
    await until(() => isVisible(before), 'the transfer is seen')
    expect(await owner.all(sql`select holder from stolen_leases`)).toEqual([])
    await owner.close()
    first.kill('SIGKILL')
    const after = await chain.send(address, 2n)
    await until(() => isVisible(after), 'the transfer is seen by the next leader')
    expect(await leaders()).not.toEqual([leader])
    await appliedOnce()
  })

  it('apply each block once when two believe that they lead', async () => {
    await indexing.stop()
    const others = await Promise.all(
      [1, 2, 3].map(() => openTestIndexer({ rpcUrl: chain.rpcUrl, connection: indexing.connection })),
    )
    const known = indexing.ctx.chains.list()[0]!
    for (let index = 0; index < racedBlocks; index++) await chain.send(address, 1n)
    const { catchUp } = await import('./catch-up.ts')
    await Promise.all(
      others.map(({ ctx }) =>
        catchUp(
          ctx,
          { chain: known, readAhead: openReadAhead(known) },
          { stopping: () => false, mayGoOn: () => true },
        ),
      ),
    )
    await untilIndexed(indexing, chain.rpcUrl)
    await appliedOnce()
    await checkLedger(indexing.database)
    for (const other of others) await other.close()
  })
})

it('makes progress when reading a block takes longer than the lease', async () => {
  const node = await openLyingNode(chain.rpcUrl)
  node.lie(async (method, result, [key]) => {
    if (method === 'eth_getBlockByNumber' && key !== 'latest')
      await new Promise((resolve) => setTimeout(resolve, 1_700))
    return result
  })
  const slow = await openTestIndexer({ rpcUrl: node.url })
  slow.start()
  const applied = () => slow.database.all(sql`select 1 from blocks`)
  await until(async () => (await applied()).length >= 3, 'a slow node is followed')
  await slow.close()
  await node.close()
})

it('property 20: halts a configured chain with an alarm after a deep reorg, also after a restart', async () => {
  const depth = shortFinalityNetwork.confirmations
  const started = await startTestChains({ blockchains: [shortFinalityNetwork.blockchain] })
  const rewritten = started.chains[0]!
  const alarms: string[] = []
  const log = { ...createLog('silent'), info: () => undefined, warn: () => undefined, debug: () => undefined }
  const hearing = {
    ...log,
    // Ignores the alarm about a single endpoint.
    error: ({ alarm = 'one-endpoint' }: { alarm?: string }) =>
      void (alarm === 'one-endpoint' || alarms.push(alarm)),
  } as unknown as Log
  const configured = await openTestIndexer({
    rpcUrl: rewritten.rpcUrl,
    followed: shortFinalityNetwork.blockchain,
    local: false,
    log: hearing,
  })
  configured.start()
  await untilIndexed(configured, rewritten.rpcUrl)
  const fork = await rewritten.snapshot()
  const dropped = await rewritten.send(address, 5n)
  await minedIn(rewritten, dropped)
  await rewritten.mine(depth - 2)
  await untilIndexed(configured, rewritten.rpcUrl)
  await rewritten.revert(fork)
  const final = await minedIn(rewritten, await rewritten.send(address, 6n))
  await rewritten.mine(depth - 1)
  await untilIndexed(configured, rewritten.rpcUrl)
  const undone = await configured.database.all(sql`select 1 from block_steps where kind = 'undone'`)
  expect([undone.length, alarms]).toEqual([depth - 1, []])
  expect(await rewritten.rpc('eth_getTransactionReceipt', [dropped])).toBeNull()
  const finalNow = () => highestFinal(configured.database, shortFinalityNetwork.blockchain)
  const isFinal = async () => {
    await untilIndexed(configured, rewritten.rpcUrl)
    return (await finalNow()) >= final
  }
  await mineUntil(rewritten, isFinal, 'the block is final')
  const [highest, top] = [
    await finalNow(),
    await canonicalHead(configured.database, shortFinalityNetwork.blockchain),
  ]
  // Without its transactions the block has another hash, and so does every block above.
  await rewritten.reorg(top!.number - final + 1)
  await rewritten.mine()
  await until(async () => alarms.length > 0, 'the alarm is raised')
  const head = await canonicalHead(configured.database, shortFinalityNetwork.blockchain)
  expect(alarms).toEqual(['deep-reorg'])
  expect(head!.number).toBe(highest)
  await configured.stop()
  configured.start()
  await until(async () => alarms.length > 1, 'the alarm is raised again')
  expect(await canonicalHead(configured.database, shortFinalityNetwork.blockchain)).toEqual(head)
  await configured.close()
  await started.stop()
})

/**
 * Replaces the newest blocks of a local chain by others. The chain mines nothing by itself meanwhile, so that the blocks that are
 * read are those that are replaced. The answer is given once the indexer and the engines above it have followed.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHashAt, haveAllProcessedBlock } from '#engines/indexer/index'
import { ApiError, invalid } from '#lib/errors'
import { hexQuantity } from '../chains/evm-chain.ts'
import type { EvmLocalChain, LocalHead } from '../chains/local-chain.ts'
import { minedWithinMs, untilMined } from './mined.ts'
import { sendInPlaceOf, transactionsOfOthers } from './replacements.ts'

export const depthMax = 64

export const fates = ['return', 'drop', 'replace'] as const
/** The fate of the transactions of replaced blocks. */
export type Fate = (typeof fates)[number]
type ReorgRequest = { depth: number; transactions: Fate; newBlocks: number | undefined }
export type Replaced = {
  orphaned: string[]
  returned: string[]
  replaced: { txHash: string; by: string }[]
  dropped: string[]
}
type Reorg = Replaced & { head: LocalHead }

export async function reorganise(ctx: EngineCtx, chain: EvmLocalChain, asked: ReorgRequest): Promise<Reorg> {
  const replaced = await chain.withoutMining(() => replaceBlocks(ctx, chain, asked))
  // A timer makes the next block when it is due.
  if ((await chain.pace()) === 'each_transaction') {
    const deadlineMs = performance.now() + minedWithinMs
    const waiting = [...replaced.returned, ...replaced.replaced.map(({ by }) => by)]
    for (const hash of waiting) await untilMined(chain, hash, deadlineMs)
  }
  const { number, hash } = await chain.head()
  const head = { number, hash }
  await untilFollowed(ctx, chain, head)
  return { ...replaced, head }
}

/** Replaces a block with those above it and `depth - 1` below it, as far as the node can. Undefined where it was replaced before. */
export const reorganiseAt = async (
  ctx: EngineCtx,
  chain: EvmLocalChain,
  { number, hash, depth, transactions }: LocalHead & { depth: number; transactions: Fate },
): Promise<Replaced | undefined> =>
  chain.withoutMining(async () => {
    const head = await chain.head()
    if (head.number < number || (await chain.hashAt(number)) !== hash) return undefined
    const most = Math.min(depthMax, head.number - chain.loadedTo())
    const above = head.number - number
    if (most <= above) throw new Error(`block ${number} of ${chain.blockchain} is too old to be replaced`)
    const wanted = Math.min(most, above + depth)
    return replaceBlocks(ctx, chain, { depth: wanted, transactions, newBlocks: undefined })
  })

async function replaceBlocks(ctx: EngineCtx, chain: EvmLocalChain, asked: ReorgRequest): Promise<Replaced> {
  const { depth, transactions, newBlocks = depth } = asked
  const { number: height } = await chain.head()
  requireDepth(chain, depth, height)
  if (newBlocks < depth)
    throw invalid({
      at: 'newBlocks',
      reason: `must be at least depth, ${depth}: a chain changes to a branch that is as long or longer`,
      value: newBlocks,
    })
  const numbers = Array.from({ length: depth }, (_, index) => height - depth + 1 + index)
  const before = await Promise.all(numbers.map((number) => blockOf(chain, number)))
  const hashes = before.flatMap((block) => block.transactions)
  const others = transactions === 'replace' ? await transactionsOfOthers(ctx, chain, hashes) : []
  const isOfOthers = new Set(others.map(({ hash }) => hash))
  const kept = hashes.filter((hash) => !isOfOthers.has(hash))
  const raws = transactions === 'drop' ? new Map<string, string>() : await rawTransactions(chain, kept)
  await putOthers(chain, before)
  if (newBlocks > depth) await chain.ask('anvil_mine', [hexQuantity(newBlocks - depth)])
  const returned: string[] = []
  for (const [hash, raw] of raws) if (await isAccepted(chain, raw)) returned.push(hash)
  const replaced = await sendInPlaceOf(chain, others)
  const gone = new Set([...returned, ...replaced.map(({ txHash }) => txHash)])
  return {
    orphaned: before.map(({ hash }) => hash).reverse(),
    returned,
    replaced,
    dropped: hashes.filter((hash) => !gone.has(hash)),
  }
}

type ReplacedBlock = { number: string; hash: string; transactions: string[] }

async function blockOf(chain: EvmLocalChain, number: number): Promise<ReplacedBlock> {
  const block = await chain.ask<ReplacedBlock | null>('eth_getBlockByNumber', [hexQuantity(number), false])
  if (block) return block
  throw new Error(`it has no block ${number}`)
}

/** Puts empty blocks in place of these. The node gives them the same times: in place of empty ones, they would be the same blocks. */
async function putOthers(chain: EvmLocalChain, blocks: readonly { number: string; hash: string }[]) {
  const reorg = ['anvil_reorg', [blocks.length, []]] as const
  await chain.ask(...reorg)
  const [lowest] = blocks
  if ((await chain.hashAt(Number(lowest!.number))) !== lowest!.hash) return
  const usual = await chain.ask<string>('eth_coinbase')
  await chain.ask('anvil_setCoinbase', [`0x${randomBytes(20).toString('hex')}`])
  try {
    await chain.ask(...reorg)
  } finally {
    await chain.ask('anvil_setCoinbase', [usual])
  }
}

function requireDepth({ blockchain, loadedTo }: EvmLocalChain, depth: number, height: number): void {
  const most = Math.max(0, height - loadedTo())
  if (depth <= most) return
  const reason =
    loadedTo() === 0 ? 'as many blocks as it has' : 'those mined since the sandbox loaded it from disk'
  throw invalid({
    at: 'depth',
    reason: `must be at most ${most} on ${blockchain} now, ${reason}: mine more blocks first`,
    value: depth,
  })
}

/** The signed bytes of the transactions, in their order. */
async function rawTransactions(
  chain: EvmLocalChain,
  hashes: readonly string[],
): Promise<Map<string, string>> {
  const raws = new Map<string, string>()
  for (const hash of hashes) {
    const raw = await chain.ask<string | null>('eth_getRawTransactionByHash', [hash])
    if (raw !== null) raws.set(hash, raw)
  }
  return raws
}

/** Whether the node has the transaction in its pool again; it refuses those that it took without a signature. */
const isAccepted = (chain: EvmLocalChain, raw: string): Promise<boolean> =>
  chain.ask('eth_sendRawTransaction', [raw]).then(
    () => true,
    (error) => /already (known|imported)/i.test(String(error)),
  )

/** Measured on a busy machine: 64 blocks take 7 seconds. The connection of a request that waits a minute is closed. */
const followedWithinMs = 40_000
const lookEveryMs = 10

/** Waits until the blocks up to the head are indexed, and every engine has processed them: a chain on a timer goes on meanwhile. */
async function untilFollowed(
  { database }: EngineCtx,
  { blockchain }: EvmLocalChain,
  head: LocalHead,
): Promise<void> {
  const deadlineMs = performance.now() + followedWithinMs
  const isIndexed = async () => (await canonicalHashAt(database, blockchain, head.number)) === head.hash
  while (!((await isIndexed()) && (await haveAllProcessedBlock(database, blockchain, head.hash)))) {
    if (performance.now() > deadlineMs)
      throw new ApiError(
        'unavailable',
        `The reorg of ${blockchain} is done, but its indexer did not follow to block ${head.number} within ${followedWithinMs / 1000} seconds: bezant chain list shows how far it is, and the log why.`,
      )
    await delay(lookEveryMs)
  }
}

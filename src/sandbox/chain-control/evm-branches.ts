/** Other branches of EVM chains: the node puts empty blocks in the place of its newest, and takes their transactions again. */
import { randomBytes } from 'node:crypto'
import type { EngineCtx } from '#engines/ctx'
import { hexQuantity } from '../chains/evm-chain.ts'
import type { Branches, BranchRequest, EvmLocalChain, Replaced } from '../chains/local-chain.ts'
import { sendInPlaceOf, transactionsOfOthers } from './replacements.ts'

export const evmBranches = (ctx: EngineCtx, chain: EvmLocalChain): Branches => ({
  fates: ['return', 'drop', 'replace'],
  withoutMining: chain.withoutMining,
  replaceable: (height) => {
    const blocks = Math.max(0, height - chain.loadedTo())
    const reason =
      chain.loadedTo() === 0
        ? 'as many blocks as it has'
        : 'those mined since the sandbox loaded it from disk'
    return { blocks, reason: `${reason}: mine more blocks first` }
  },
  replace: (asked) => replace(ctx, chain, asked),
})

async function replace(
  ctx: EngineCtx,
  chain: EvmLocalChain,
  { depth, transactions, newBlocks }: BranchRequest,
): Promise<Replaced> {
  const { number: height } = await chain.head()
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

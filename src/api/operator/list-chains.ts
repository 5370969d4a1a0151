import type { BlockRef, Chain } from '#chains/chain'
import type { Ctx } from '#engines/ctx'
import { highestFinal, indexedHead, isHalted } from '#engines/indexer/index'
import { formatInstant } from '#lib/time'

/** Any key of the scope may ask as often as it likes: nodes are asked at most this often, and waited for no longer. */
const keptMs = 1_000
const patienceMs = 2_000

const heads = new WeakMap<Chain, { atMs: number; head: Promise<BlockRef | undefined> }>()

export const listChains = (ctx: Ctx) => Promise.all(ctx.chains.list().map((chain) => showChain(ctx, chain)))

async function showChain(ctx: Ctx, chain: Chain) {
  const { blockchain, chainId } = chain.network
  const [head, indexed, final, halted] = await Promise.all([
    headOf(chain),
    indexedHead(ctx.db, blockchain),
    highestFinal(ctx.db, blockchain),
    isHalted(ctx.db, blockchain),
  ])
  const lagBlocks = head && indexed && Math.max(0, head.number - indexed.number)
  return {
    blockchain,
    chainId,
    ...(head && { headNumber: head.number, headDate: formatInstant(head.timeMs) }),
    ...(indexed && { indexedNumber: indexed.number }),
    ...(final >= 0 && { finalNumber: final }),
    ...(lagBlocks !== undefined && { lagBlocks }),
    ...(head &&
      indexed && { lagMs: lagBlocks === 0 ? 0 : Math.max(0, head.timeMs - Date.parse(indexed.blockTime)) }),
    rpc: chain.hosts.map((url) => ({ url })),
    state: halted ? 'halted' : stateOf(head, lagBlocks),
  }
}

/** One block behind is a matter of when it was asked. */
const stateOf = (head: BlockRef | undefined, lagBlocks: number | undefined) => {
  if (!head) return 'unreachable'
  return lagBlocks !== undefined && lagBlocks <= 1 ? 'following' : 'behind'
}

function headOf(chain: Chain): Promise<BlockRef | undefined> {
  const kept = heads.get(chain)
  if (kept && performance.now() - kept.atMs < keptMs) return kept.head
  const head = within(patienceMs, chain.head())
  heads.set(chain, { atMs: performance.now(), head })
  return head
}

/** What a promise resolves to, or nothing when it fails or takes too long. */
const within = <Result>(limitMs: number, work: Promise<Result>): Promise<Result | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs)
    work.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer))
  })

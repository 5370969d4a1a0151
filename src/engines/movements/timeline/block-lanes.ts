import type { BlockStep } from '#engines/indexer/index'
import type { HoldingBlock } from '#engines/indexer/observed/index'
import type { SignedAttempt } from '#engines/transactions/history/index'
import { instantMs, type Span, type TimelineLane } from './types.ts'

/** A time in which a block counted that holds the transaction. It ends when the block is taken back, or final. */
export type BlockStay = HoldingBlock & { fromMs: number; toMs: number | undefined; isUndone: boolean }

/** The nonces that attempts use, each once. */
export const noncesOf = (attempts: readonly SignedAttempt[]) => [
  ...new Map(attempts.map(({ address, nonce }) => [`${address} ${nonce}`, { address, nonce }])).values(),
]

/** The stays of blocks in the chain, by their steps. A block that was taken back may return. */
export function staysOf(blocks: readonly HoldingBlock[], steps: readonly BlockStep[]): BlockStay[] {
  return blocks.flatMap((block) => {
    const stays: BlockStay[] = []
    for (const step of steps.filter(({ blockHash }) => blockHash === block.blockHash)) {
      const last = stays.at(-1)
      if (step.recordedAt === null) continue
      const atMs = instantMs(step.recordedAt)
      if (step.kind === 'applied') {
        const toMs = step.finalAt === null ? undefined : Math.max(atMs, instantMs(step.finalAt))
        stays.push({ ...block, fromMs: atMs, toMs, isUndone: false })
      } else if (last && !last.isUndone) {
        last.toMs = atMs
        last.isUndone = true
      }
    }
    return stays
  })
}

/** One lane for each block that holds or held the transaction; a nonce that another signer used is a lane of its own. */
export function blockLanes(stays: readonly BlockStay[], ours: ReadonlySet<string>): TimelineLane[] {
  const byHash = new Map<string, BlockStay[]>()
  for (const stay of stays) {
    const key = `${stay.blockHash} ${stay.txHash}`
    byHash.set(key, [...(byHash.get(key) ?? []), stay])
  }
  return [...byHash.values()].map((own) => {
    const { blockHash, blockNumber, txHash } = own[0]!
    const isOurs = ours.has(txHash)
    return {
      id: `${isOurs ? 'block' : 'foreign'}:${blockHash}:${txHash}`,
      kind: isOurs ? ('block' as const) : ('foreign' as const),
      title: isOurs ? `Block ${blockNumber}` : 'Not ours',
      note: isOurs ? blockHash : `${txHash} used the nonce in block ${blockNumber}`,
      spans: own.map((stay) => spanOf(stay, isOurs)),
      marks: [],
    }
  })
}

function spanOf(
  { fromMs, toMs, isUndone, blockHash, blockNumber, txHash }: BlockStay,
  isOurs: boolean,
): Span {
  const refs = { blockHash, txHash }
  if (isUndone)
    return {
      fromMs,
      toMs,
      state: 'orphaned',
      tone: 'bad',
      text: `Block ${blockNumber} held it, until a reorg took the block back.`,
      refs,
    }
  if (!isOurs) {
    const text = `Block ${blockNumber} holds a transaction with the nonce that was not signed here.`
    return { fromMs, toMs, state: 'foreign', tone: 'bad', text, refs }
  }
  const text =
    toMs === undefined
      ? `Block ${blockNumber} holds it, and is not final yet.`
      : `Block ${blockNumber} holds it, and is final.`
  return { fromMs, toMs, state: 'held', tone: 'good', text, refs }
}

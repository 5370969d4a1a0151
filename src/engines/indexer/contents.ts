import type { Agreement, Block, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'
import { contentsBetween } from './store/blocks.ts'
import { highestComplete } from './store/steps.ts'

/** Enough endpoints say something else of a block than the one that it was read from. */
export class FalseContent extends Error {
  readonly blockNumber: number

  constructor(blockNumber: number, said: readonly string[]) {
    super(`block ${blockNumber} says something else than was applied: ${said.join(', ')}`)
    this.blockNumber = blockNumber
  }
}

/** Blocks compared for one that is applied: after an outage more than one is complete at a time. */
const comparedMax = 16

/**
 * How far endpoints that agree on the hashes of blocks agree on what these say, too: transactions and receipts of a block are
 * read from one of them. Throws `FalseContent` when they agree that it was told wrong.
 */
export async function agreedContents(
  ctx: EngineCtx,
  chain: Chain,
  block: Block,
  named: Agreement,
): Promise<Agreement> {
  const { blockchain } = chain.network
  const { upTo } = named
  if (upTo === undefined || chain.local) return named
  const from = (await highestComplete(ctx.database, blockchain)) + 1
  const kept = await contentsBetween(ctx.database, blockchain, { from, to: upTo }, comparedMax)
  const { number, hash, contentHash } = block
  if (kept.length < comparedMax && number <= upTo && contentHash) kept.push({ number, hash, contentHash })
  const opinions = await Promise.all(kept.map((each) => chain.agreedContent(each.hash, each.contentHash)))
  const at = opinions.findIndex(({ verdict }) => verdict !== 'agreed')
  if (at < 0) return { upTo: kept.length === comparedMax ? kept.at(-1)!.number : upTo }
  const { verdict, said } = opinions[at]!
  const blockNumber = kept[at]!.number
  if (verdict === 'open') return { upTo: kept[at - 1]?.number, said }
  raiseAlarm(
    ctx.log,
    'providers-disagree',
    { blockchain, blockNumber, said },
    'an endpoint told something false of a block, which is taken back and read again from another one',
  )
  throw new FalseContent(blockNumber, said)
}

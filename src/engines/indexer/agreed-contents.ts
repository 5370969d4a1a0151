import type { Chain } from '#chains/chain'
import type { Agreement, Block } from '#chains/facets/blocks'
import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'
import { contentHashesBetween } from './store/blocks.ts'
import { highestComplete } from './store/steps.ts'

/** A quorum of endpoints reports other contents of a block than the endpoint that it was read from. */
export class FalseContents extends Error {
  readonly blockNumber: number

  constructor(blockNumber: number, said: readonly string[]) {
    super(`block ${blockNumber} has other contents than were applied: ${said.join(', ')}`)
    this.blockNumber = blockNumber
  }
}

/** Maximum number of blocks compared for each applied one: after an outage, several become complete at a time. */
const comparedMax = 16

/**
 * Returns the highest block up to which the endpoints agree on contents, not only on hashes: transactions and receipts of a
 * block are read from one endpoint. Throws `FalseContent` when a quorum agrees on other contents.
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
  const kept = await contentHashesBetween(ctx.database, blockchain, { from, to: upTo }, comparedMax)
  const { number, hash, contentHash } = block
  if (kept.length < comparedMax && number <= upTo && contentHash) kept.push({ number, hash, contentHash })
  const opinions = await Promise.all(kept.map((each) => chain.blocks.agreedContent(each, each.contentHash)))
  const at = opinions.findIndex(({ verdict }) => verdict !== 'agreed')
  if (at < 0) return { upTo: kept.length === comparedMax ? kept.at(-1)!.number : upTo }
  const { verdict, said } = opinions[at]!
  const blockNumber = kept[at]!.number
  if (verdict === 'open') return { upTo: kept[at - 1]?.number, said }
  raiseAlarm(
    ctx.log,
    'providers-disagree',
    { blockchain, blockNumber, said },
    'an endpoint reported false contents of a block: the block is reverted and read from another endpoint',
  )
  throw new FalseContents(blockNumber, said)
}

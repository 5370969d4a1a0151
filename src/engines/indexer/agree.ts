import type { Block, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'
import { canonicalHashAt } from './store/blocks.ts'

/** Chains whose endpoints said different things the last time. */
const disagreeing = new WeakSet<Chain>()

/**
 * The highest block that is final when this one is on top: as deep as finality asks for, and named by enough endpoints of
 * the chain. `undefined`, with an alarm, while they do not agree: engines then wait with what cannot be undone.
 */
export async function agreedFinal(ctx: EngineCtx, chain: Chain, block: Block): Promise<number | undefined> {
  const { blockchain } = chain.network
  const deepEnough = block.number - chain.finalityDepth + 1
  if (deepEnough < 0) return deepEnough
  const hashAt = async (number: number) =>
    number === block.number ? block.hash : canonicalHashAt(ctx.database, blockchain, number)
  const { upTo, said } = await chain.agreedUpTo(deepEnough, hashAt)
  if (upTo === undefined) tellOnce(ctx, chain, deepEnough, said)
  else if (disagreeing.delete(chain))
    ctx.log.info({ blockchain, blockNumber: upTo }, 'the endpoints of a chain agree again')
  return upTo
}

/** Throws, with the alarm, unless enough endpoints name this block: then what it replaces is gone for certain. */
export async function requireAgreement(
  ctx: EngineCtx,
  chain: Chain,
  number: number,
  hash: string,
): Promise<void> {
  const { upTo, said } = await chain.agreedUpTo(number, async () => hash)
  if (upTo === number) return
  tellOnce(ctx, chain, number, said)
  throw new Error(`the endpoints of ${chain.network.blockchain} do not agree on block ${number}`)
}

/** Once, until they agree again. */
function tellOnce(ctx: EngineCtx, chain: Chain, blockNumber: number, said: string[] | undefined): void {
  if (disagreeing.has(chain)) return
  disagreeing.add(chain)
  raiseAlarm(
    ctx.log,
    'providers-disagree',
    { blockchain: chain.network.blockchain, blockNumber, said },
    'the endpoints of a chain do not agree on a block; nothing becomes final until enough of them do',
  )
}

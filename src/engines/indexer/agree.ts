import type { Block, Chain, HashAt } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'
import { agreedContents } from './contents.ts'
import { canonicalHashAt } from './store/blocks.ts'
import type { Depths } from './store/steps.ts'

/** Chains whose endpoints disagreed at the last check. */
const disagreeing = new WeakSet<Chain>()

/**
 * Returns the highest complete and final blocks when `block` is the head. Complete: it has the network's confirmations, and a
 * quorum agrees on hash and contents. Final: a quorum also calls it finalized, or it is deep enough on a chain without that
 * tag. While endpoints disagree both are undefined, with an alarm; engines defer irreversible actions.
 */
export async function agreedDepths(ctx: EngineCtx, chain: Chain, block: Block): Promise<Depths> {
  const { blockchain } = chain.network
  const deepEnough = block.number - chain.completeDepth + 1
  const hashAt = async (number: number) =>
    number === block.number ? block.hash : canonicalHashAt(ctx.database, blockchain, number)
  if (deepEnough < 0) return { completeTo: deepEnough, finalTo: undefined }
  const named = await chain.agreedUpTo(deepEnough, hashAt)
  const { upTo: completeTo, said } = await agreedContents(ctx, chain, block, named)
  if (completeTo === undefined) {
    tellOnce(ctx, chain, deepEnough, said)
    return { completeTo, finalTo: undefined }
  }
  if (disagreeing.delete(chain))
    ctx.log.info({ blockchain, blockNumber: completeTo }, 'the endpoints of a chain agree again')
  const final = await finalNumber(chain, block, hashAt)
  return { completeTo, finalTo: final === undefined ? undefined : Math.min(completeTo, final) }
}

/** Returns the highest final block; `undefined` while the endpoints do not report it, or report one that we do not follow. */
async function finalNumber(chain: Chain, block: Block, hashAt: HashAt): Promise<number | undefined> {
  const finalized = await chain.finalized()
  if (finalized === 'no tag') return block.number - chain.finalityDepth + 1
  if (finalized === 'unknown') return undefined
  const ours = finalized.number > block.number ? undefined : await hashAt(finalized.number)
  return ours === undefined || ours === finalized.hash ? finalized.number : undefined
}

/** Raises an alarm for each chain that depends on a single endpoint. */
export function raiseLoneEndpoints(ctx: EngineCtx): void {
  for (const { network, local, agreeing } of ctx.chains.list())
    if (!local && agreeing === 1)
      raiseAlarm(
        ctx.log,
        'one-endpoint',
        { blockchain: network.blockchain },
        'what this chain tells is the word of one endpoint: name at least three in BEZANT_NETWORKS',
      )
}

/**
 * Throws, with an alarm, unless a quorum of endpoints has this block: only then is the block that it replaces certainly gone.
 */
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

/** Raises the alarm once, until the endpoints agree again. */
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

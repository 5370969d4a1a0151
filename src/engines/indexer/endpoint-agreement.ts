import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'

/** Chains whose endpoints disagreed at the last check. */
const disagreeing = new WeakSet<Chain>()

/** Raises an alarm for each chain that depends on a single endpoint. */
export function alarmSingleEndpoints(ctx: EngineCtx): void {
  for (const { network, local, blocks } of ctx.chains.list())
    if (!local && blocks.agreeing === 1)
      raiseAlarm(
        ctx.log,
        'one-endpoint',
        { blockchain: network.blockchain },
        'the chain depends on a single endpoint: set at least three in BEZANT_NETWORKS',
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
  const { upTo, said } = await chain.blocks.agreedUpTo(number, async () => hash)
  if (upTo === number) return
  alarmDisagreement(ctx, chain, number, said)
  throw new Error(`the endpoints of ${chain.network.blockchain} do not agree on block ${number}`)
}

/** Raises the alarm once, until the endpoints agree again. */
export function alarmDisagreement(
  ctx: EngineCtx,
  chain: Chain,
  blockNumber: number,
  said: string[] | undefined,
): void {
  if (disagreeing.has(chain)) return
  disagreeing.add(chain)
  raiseAlarm(
    ctx.log,
    'providers-disagree',
    { blockchain: chain.network.blockchain, blockNumber, said },
    'the endpoints of a chain do not agree on a block: nothing becomes final until a quorum agrees',
  )
}

/** Logs that the endpoints agree again, if they disagreed at the last check. */
export function logAgreement({ log }: EngineCtx, chain: Chain, blockNumber: number): void {
  if (disagreeing.delete(chain))
    log.info({ blockchain: chain.network.blockchain, blockNumber }, 'the endpoints of a chain agree again')
}

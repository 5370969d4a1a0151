import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { endAlarm, raiseAlarm } from '#runtime/log/alarms'
import { type Loop, logTrouble, repeat } from '#runtime/scheduling/loop'

const everyMs = 5_000
/** Lag from which an endpoint is behind: a minute of blocks, and never less than three. */
const lagMs = 60_000
const lagBlocksMin = 3

/**
 * Raises an alarm while one of several endpoints is far behind the others: reads avoid it, so nothing else shows that the
 * chain has fewer endpoints than configured.
 */
export function watchEndpointLag(ctx: EngineCtx): Loop {
  const behind = new Set<string>()
  const turn = async () => {
    for (const chain of ctx.chains.list()) look(ctx, chain, behind)
    return false
  }
  return repeat(turn, logTrouble(ctx.log, 'looking for endpoints that are behind'), everyMs)
}

function look({ log }: EngineCtx, chain: Chain, behind: Set<string>): void {
  const { blockchain, blockTimeMs } = chain.network
  const lagMax = Math.max(lagBlocksMin, Math.ceil(lagMs / blockTimeMs))
  for (const [position, { host, headNumber, lagBlocks }] of chain.endpoints.health().entries()) {
    // An endpoint that does not answer fails, which its share of errors shows.
    if (lagBlocks === undefined) continue
    const key = `${blockchain} ${position}`
    const about = { blockchain, endpoint: host, position, headNumber, lagBlocks }
    if (lagBlocks >= lagMax && !behind.has(key)) {
      behind.add(key)
      raiseAlarm(log, 'endpoint-behind', about, 'an endpoint is behind the others of its chain', key)
    }
    if (lagBlocks < lagMax && behind.delete(key))
      endAlarm(log, 'endpoint-behind', about, 'an endpoint is no longer behind', key)
  }
}

import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { endAlarm, raiseAlarm } from '#runtime/log/alarms'
import { type Loop, logTrouble, repeat } from '#runtime/scheduling/loop'
import { resultWithin } from '#runtime/scheduling/time-limit'

const everyMs = 5_000
/** Timeout of a question to the endpoints of a chain. */
const patienceMs = 4_000
/** Time for which no endpoint of a chain has answered when it is reported. */
const silentMs = 20_000
/** Share of failed calls from which an endpoint is asked, so that nodes that work get no further calls. */
const suspiciousRatio = 0.5

type Silence = { sinceMs: number; isRaised: boolean }

/** Raises an alarm while no endpoint of a chain answers, and reports the end: the other chains go on, so nothing else may show it. */
export function watchSilentChains(ctx: EngineCtx): Loop {
  const silences = new Map<string, Silence>()
  const turn = async () => {
    await Promise.all(ctx.chains.list().map((chain) => look(ctx, chain, silences)))
    return false
  }
  return repeat(turn, logTrouble(ctx.log, 'looking for chains that do not answer'), everyMs)
}

async function look({ log }: EngineCtx, chain: Chain, silences: Map<string, Silence>): Promise<void> {
  const { blockchain } = chain.network
  const silence = silences.get(blockchain)
  if (!silence && chain.endpoints.health().some(({ errorsRatio }) => errorsRatio < suspiciousRatio)) return
  const startedMs = performance.now()
  const answers = (await resultWithin(patienceMs, chain.blocks.head())) !== undefined
  const about = { blockchain, endpoints: chain.endpoints.hosts }
  if (answers) {
    silences.delete(blockchain)
    if (silence?.isRaised)
      endAlarm(log, 'chain-unreachable', about, 'an endpoint of the chain answers again', blockchain)
    return
  }
  const { sinceMs, isRaised } = silence ?? { sinceMs: startedMs, isRaised: false }
  const raises = !isRaised && performance.now() - sinceMs > silentMs
  silences.set(blockchain, { sinceMs, isRaised: isRaised || raises })
  if (raises) raiseAlarm(log, 'chain-unreachable', about, 'no endpoint of the chain answers', blockchain)
}

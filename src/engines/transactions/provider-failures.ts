import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'
import { oncePer } from '#runtime/scheduling/memoize'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'

/** Number of consecutive failures before an alarm: a single failure is normal. */
const alarmTries = 3
const everyMs = 60_000

type Doing = 'estimating' | 'sending' | 'explaining'

/** Whether a message about the chain was not logged within the last minute. */
const isFirstReport = oncePer((_chain: Chain) => createRepeatFilter(everyMs))

/**
 * Logs, at most once a minute for each chain, activity and severity, that nodes give no conclusive answer. Transactions wait
 * until they do: a provider failure proves nothing about a transaction.
 */
export function logProviderFailure(
  ctx: EngineCtx,
  chain: Chain,
  { doing, said, tries }: { doing: Doing; said: string; tries: number },
): void {
  const { blockchain } = chain.network
  const isAlarm = tries >= alarmTries
  if (!isFirstReport(chain)(`${doing} ${isAlarm}`)) return
  const about = { blockchain, doing, said, tries }
  if (isAlarm)
    raiseAlarm(
      ctx.log,
      'provider-trouble',
      about,
      'the nodes of a chain fail: transactions wait until one answers',
    )
  else ctx.log.warn(about, 'a node gives no conclusive answer; trying again')
}

/**
 * Logs why nothing was signed for a sender or a replacement request, at most once a minute for each chain and reason, which
 * others share.
 */
export function logSigningFailure(ctx: EngineCtx, chain: Chain, about: object, error: unknown): void {
  if (!isFirstReport(chain)(`signing ${error}`)) return
  const { blockchain } = chain.network
  ctx.log.error({ err: error, blockchain, ...about }, 'signing failed; trying again')
}

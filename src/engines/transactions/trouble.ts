import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { createNews } from '#lib/news'
import { oncePer } from '#lib/once'
import { raiseAlarm } from '#runtime/log/alarms'

/** How often one thing must fail in a row before a person is told: a single failure is usual. */
const alarmTries = 3
const everyMs = 60_000

type Doing = 'estimating' | 'sending' | 'explaining'

/** Whether something was not said of the chain within the last minute. */
const isNews = oncePer((_chain: Chain) => createNews(everyMs))

/**
 * Logs, at most once a minute for each chain, that its nodes give no answer that decides anything. Transactions wait until
 * they do: trouble of a provider says nothing of a transaction.
 */
export function noteTrouble(
  ctx: EngineCtx,
  chain: Chain,
  { doing, said, tries }: { doing: Doing; said: string; tries: number },
): void {
  const { blockchain } = chain.network
  const isAlarm = tries >= alarmTries
  if (!isNews(chain)(`${doing} ${isAlarm}`)) return
  const about = { blockchain, doing, said, tries }
  if (isAlarm)
    raiseAlarm(
      ctx.log,
      'provider-trouble',
      about,
      'the nodes of a chain do not serve: transactions wait until they do',
    )
  else ctx.log.warn(about, 'a node gives no answer that decides anything; trying again')
}

/** Logs why nothing was signed for a sender or a wish, at most once a minute for each chain and reason: others share it. */
export function noteUnsigned(ctx: EngineCtx, chain: Chain, about: object, error: unknown): void {
  if (!isNews(chain)(`signing ${error}`)) return
  const { blockchain } = chain.network
  ctx.log.error({ err: error, blockchain, ...about }, 'signing failed; trying again')
}

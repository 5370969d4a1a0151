import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { oncePer } from '#lib/once'
import { raiseAlarm } from '#runtime/log/alarms'

/** How often one thing must fail in a row before a person is told: a single failure is usual. */
const alarmTries = 3
const everyMs = 60_000

type Doing = 'estimating' | 'sending'

const saidAtMs = oncePer((_chain: Chain) => new Map<string, number>())

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
  const lastMs = saidAtMs(chain)
  const key = `${doing} ${isAlarm}`
  if (performance.now() < (lastMs.get(key) ?? Number.NEGATIVE_INFINITY) + everyMs) return
  lastMs.set(key, performance.now())
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

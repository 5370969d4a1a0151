import type { EngineCtx } from '#engines/ctx'
import { raiseAlarm } from '#runtime/log/alarms'
import { oncePer } from '#runtime/scheduling/memoize'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import type { Refusal } from './read-span.ts'
import type { EventHistory } from './store/histories.ts'

/** Time of refusals alone after which an alarm is raised: nodes that limit ranges refuse some until a span fits. */
export const refusedMaxMs = 5 * 60_000
const everyMs = 10 * 60_000

const isFirstReport = oncePer((_metrics: EngineCtx['metrics']) => createRepeatFilter(everyMs))

/** Raises an alarm, at most every ten minutes for each chain, for a history that nodes keep refusing. */
export function alarmRefused(ctx: EngineCtx, history: EventHistory, since: string, said: Refusal): void {
  const { entityId, monitorId, blockchain, nextBlock, toBlock } = history
  if (ctx.clock.nowMs() - Date.parse(since) < refusedMaxMs || !isFirstReport(ctx.metrics)(blockchain)) return
  raiseAlarm(
    ctx.log,
    'history-refused',
    { blockchain, entityId, monitorId, nextBlock, toBlock, refusedSince: since, said },
    'the nodes of a chain keep refusing the old logs of an event monitor',
  )
}

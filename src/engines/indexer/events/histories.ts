/**
 * Reads the history of monitored events: ranges of final blocks, a span at a time, entities in turn, beside the indexing of new
 * blocks and through connections of its own. The last block of a history is chosen under the lock of the chain: every later
 * block is applied with the monitor in sight, so no block is left out between both.
 */

import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { isDatabaseError } from '#runtime/db/db'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { defer, newTurn, type Turn } from '#runtime/turns/store'
import { isHalted } from '../halt.ts'
import { canonicalHead, lockChain } from '../store/blocks.ts'
import { highestFinal } from '../store/steps.ts'
import { type Refusal, readSpan } from './read-span.ts'
import { alarmRefused } from './refused-histories.ts'
import {
  claimHistory,
  type EventHistory,
  releaseHistory,
  removeHistory,
  setLastBlock,
} from './store/histories.ts'

const leaseMs = 30_000

/** Starts reading histories on all chains; `stop` waits for the span under way. */
export function startHistories(ctx: EngineCtx): Service {
  const loops = ctx.chains.list().map((chain) => {
    const { blockchain } = chain.network
    const turn = newTurn('reading event histories')
    const trouble = logTrouble(ctx.log, 'reading event histories', { blockchain })
    // A history that failed rests by itself: the next one is read at once.
    const loop = repeat(() => serveHistory(ctx, chain, turn, () => loop.wake()), trouble)
    return { blockchain, ...loop }
  })
  const unlisten = hearNotices(ctx, 'event_histories', (name) => {
    for (const loop of loops) if (loop.blockchain === name) loop.wake()
  })
  return serviceOf(unlisten, loops)
}

/** Reads one span of one history. False when there is none to read. */
async function serveHistory(
  ctx: EngineCtx,
  chain: Chain,
  turn: Turn,
  onDeferred: () => void,
): Promise<boolean> {
  const { blockchain } = chain.network
  if (await isHalted(ctx.database, blockchain)) return false
  const finalTo = await highestFinal(ctx.database, blockchain)
  const history = await claimHistory(ctx.database, turn, blockchain, finalTo, leaseMs)
  if (!history) return false
  try {
    const toBlock = history.toBlock ?? (await chooseLastBlock(ctx, blockchain, history))
    if (toBlock === undefined) throw new Error(`no block of ${blockchain} is indexed yet`)
    if (history.nextBlock > toBlock) await removeHistory(ctx.database, history)
    else if (history.nextBlock <= finalTo)
      await release(ctx, history, await readSpan(ctx, chain, { ...history, toBlock }, finalTo))
    else await releaseHistory(ctx.database, history, history.refusedSince)
    return true
  } catch (error) {
    const { entityId, id: key, createDate } = history
    const waitedMs = ctx.clock.nowMs() - Date.parse(createDate)
    await defer(ctx.database, turn.queue, blockchain, [{ entityId, key, waitedMs }])
    // An error of the database says nothing about the nodes.
    if (isDatabaseError(error)) await releaseHistory(ctx.database, history, history.refusedSince)
    else await release(ctx, history, error instanceof Error ? error.message : String(error))
    onDeferred()
    throw error
  }
}

/** Ends the lease, and keeps since when nodes have refused the history. */
async function release(ctx: EngineCtx, history: EventHistory, refusal: Refusal | undefined): Promise<void> {
  const since = refusal === undefined ? null : (history.refusedSince ?? formatInstant(ctx.clock.nowMs()))
  await releaseHistory(ctx.database, history, since)
  if (refusal !== undefined && since !== null) alarmRefused(ctx, history, since, refusal)
}

/** Chooses the newest applied block as the last one of the history. Undefined on a chain without any. */
const chooseLastBlock = (ctx: EngineCtx, blockchain: string, history: EventHistory) =>
  ctx.database.tx(async (tx) => {
    await lockChain(tx, blockchain)
    const head = await canonicalHead(tx, blockchain)
    if (head) await setLastBlock(tx, history, head.number)
    return head?.number
  })

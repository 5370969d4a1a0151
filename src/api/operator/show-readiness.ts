import type { Static } from 'typebox'
import type { EngineCtx } from '#engines/ctx'
import { followedChains } from '#engines/indexer/index'
import { keptFor } from '#lib/once'
import { hostOffMaxMs } from '#lib/time'
import { within } from '#lib/within'
import type { Db } from '#runtime/db/db'
import { type Answer, answer } from '#runtime/http/endpoint'
import { listChains } from './list-chains.ts'
import type { readinessSchema } from './schema.ts'

/** Readiness is public, so its parts are checked at most this often. */
const keptMs = 1_000
/** Longer than a node is waited for. */
const patienceMs = 3_000
/** A chain is late when its books are this much older than its newest block, and more than one block is missing. */
const lagMaxMs = 60_000
/** A worker that was killed is missed this long after its lease ended. */
const graceMs = 10_000

type Readiness = Static<typeof readinessSchema>
const kept = keptFor<Db, Answer>(keptMs)

/** Tells which parts are ready: 200 when all are, else 503. It is public, so it names no host, block or error. */
export const showReadiness = (ctx: EngineCtx): Promise<Answer> =>
  kept(ctx.database.reading, async () => {
    const parts = await look(ctx)
    const ready =
      parts.database === 'ready' &&
      parts.clock === 'ready' &&
      parts.engines === 'running' &&
      parts.chains.every(({ state }) => state === 'following')
    return answer(ready ? 200 : 503, { ready, ...parts })
  })

async function look(ctx: EngineCtx): Promise<Omit<Readiness, 'ready'>> {
  const db = ctx.database.reading
  const clock = Math.abs(ctx.clock.hostOffMs?.() ?? 0) > hostOffMaxMs ? 'off' : 'ready'
  const found = await within(
    patienceMs,
    Promise.all([listChains({ ...ctx, db }), followedChains(db, graceMs)]),
  )
  if (!found) return { database: 'unavailable', clock, engines: 'unknown', chains: [] }
  const [chains, followed] = found
  // Workers do not follow a halted chain.
  const expected = chains.filter(({ state }) => state !== 'halted')
  const engines = expected.every(({ blockchain }) => followed.includes(blockchain)) ? 'running' : 'stopped'
  return {
    database: 'ready',
    clock,
    engines,
    chains: chains.map(({ blockchain, state, lagMs }) => ({
      blockchain,
      state: state === 'behind' && lagMs !== undefined && lagMs <= lagMaxMs ? 'following' : state,
    })),
  }
}

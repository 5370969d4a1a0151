import type { Static } from 'typebox'
import type { EngineCtx } from '#engines/ctx'
import { followedChains } from '#engines/indexer/index'
import { journalsAreAwaited } from '#engines/transactions/journal/index'
import { hostOffMaxMs } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { type Answer, answer } from '#runtime/http/endpoint'
import { keptFor } from '#runtime/scheduling/memoize'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { listChains } from './list-chains.ts'
import type { readinessSchema } from './schema.ts'

/** Lifetime of a cached answer: readiness is public, so its checks are limited. */
const keptMs = 1_000
/** Timeout of the checks: longer than that of a node. */
const patienceMs = 3_000
/** Maximum lag of a chain that is ready: a chain is late when it lags more than this, and more than one block. */
const lagMaxMs = 60_000
/** Time after the end of its lease until a killed worker counts as stopped. */
const graceMs = 10_000

type Readiness = Static<typeof readinessSchema>
const kept = keptFor<Db, Readiness>(keptMs)

/** Reports which parts are ready: 200 when all are, else 503. It is public, so it names no host, block or error. */
export async function showReadiness(ctx: EngineCtx): Promise<Answer> {
  const readiness = await readinessOf(ctx)
  return answer(readiness.ready ? 200 : 503, readiness)
}

export const readinessOf = (ctx: EngineCtx): Promise<Readiness> =>
  kept(ctx.database.reading, async () => {
    const parts = await look(ctx)
    const ready =
      parts.database === 'ready' &&
      parts.clock === 'ready' &&
      parts.engines === 'running' &&
      parts.signing === 'running' &&
      parts.chains.every(({ state }) => state === 'following')
    return { ready, ...parts }
  })

async function look(ctx: EngineCtx): Promise<Omit<Readiness, 'ready'>> {
  const db = ctx.database.reading
  const clock = Math.abs(ctx.clock.hostOffMs?.() ?? 0) > hostOffMaxMs ? 'off' : 'ready'
  const found = await resultWithin(
    patienceMs,
    Promise.all([listChains({ ...ctx, db }), followedChains(db, graceMs), journalsAreAwaited(db)]),
  )
  if (!found) return { database: 'unavailable', clock, engines: 'unknown', signing: 'unknown', chains: [] }
  const [chains, followed, awaited] = found
  // Workers do not follow a halted chain.
  const expected = chains.filter(({ state }) => state !== 'halted')
  const engines = expected.every(({ blockchain }) => followed.includes(blockchain)) ? 'running' : 'stopped'
  return {
    database: ctx.database.fullVolume() === undefined ? 'ready' : 'full',
    clock,
    engines,
    signing: awaited ? 'waiting' : 'running',
    chains: chains.map(({ blockchain, state, lagMs }) => ({
      blockchain,
      state: state === 'behind' && lagMs !== undefined && lagMs <= lagMaxMs ? 'following' : state,
    })),
  }
}

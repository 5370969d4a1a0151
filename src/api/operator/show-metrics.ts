import { statfs } from 'node:fs/promises'
import type { EngineCtx } from '#engines/ctx'
import { openHistories } from '#engines/indexer/events/index'
import { gapCounts } from '#engines/indexer/reconciliation/index'
import { queueDepths } from '#engines/transactions/index'
import { awaitedJournals, journalsDirectory } from '#engines/transactions/journal/index'
import { waitingDeliveries } from '#engines/webhooks/index'
import { alarmCounts, openAlarms } from '#runtime/log/alarms'
import { keptFor } from '#runtime/scheduling/memoize'
import type { Metrics } from '#runtime/telemetry/metrics'
import { chainStates, listChains } from './list-chains.ts'
import { readinessOf } from './show-readiness.ts'

/** Lifetime of a cached scrape: limits requests to the database and the nodes, for any number of collectors. */
const keptMs = 1_000
const kept = keptFor<Metrics, string>(keptMs)

/** The metrics of this process as text. Figures that it does not count itself are gathered at the scrape. */
export const showMetrics = (ctx: EngineCtx): Promise<string> => kept(ctx.metrics, () => scrape(ctx))

async function scrape(ctx: EngineCtx): Promise<string> {
  countAlarms(ctx)
  ctx.metrics.poolWaiting.set({ pool: 'work' }, ctx.database.waiting().work)
  ctx.metrics.poolWaiting.set({ pool: 'reading' }, ctx.database.waiting().reading)
  showEndpoints(ctx)
  const gathered = await Promise.allSettled([
    gatherQueues(ctx),
    gatherChains(ctx),
    gatherDeliveries(ctx),
    gatherGaps(ctx),
    gatherHistories(ctx),
    gatherReplicas(ctx),
    gatherReadiness(ctx),
    gatherJournals(ctx),
  ])
  // A figure that cannot be gathered keeps its last value and must not suppress the others.
  for (const each of gathered)
    if (each.status === 'rejected') ctx.log.warn({ err: each.reason }, 'a metric could not be gathered')
  return ctx.metrics.registry.metrics()
}

function countAlarms({ metrics }: EngineCtx): void {
  metrics.alarms.reset()
  for (const [alarm, count] of alarmCounts()) metrics.alarms.inc({ alarm }, count)
  for (const [alarm, count] of openAlarms()) metrics.alarmsOpen.set({ alarm }, count)
}

function showEndpoints({ chains, metrics }: EngineCtx): void {
  for (const chain of chains.list()) {
    const { blockchain } = chain.network
    // Without a zero before it, no rate shows the first one.
    metrics.transfersOmitted.inc({ blockchain }, 0)
    for (const [position, endpoint] of chain.endpoints.health().entries()) {
      const { host, errorsRatio, latencyMs, headNumber, lagBlocks } = endpoint
      const labels = { blockchain, host, position }
      metrics.endpointErrors.set(labels, errorsRatio)
      metrics.endpointLatency.set(labels, latencyMs / 1_000)
      setOrRemove(metrics.endpointHead, labels, headNumber)
      setOrRemove(metrics.endpointLag, labels, lagBlocks)
    }
  }
}

type Labels = Record<string, string | number>
type Gauge = { set(labels: Labels, value: number): void; remove(labels: Labels): void }

/** A value that is unknown is removed: the last one would pass for the current one. */
function setOrRemove(gauge: Gauge, labels: Labels, value: number | undefined): void {
  if (value === undefined) gauge.remove(labels)
  else gauge.set(labels, value)
}

async function gatherQueues({ chains, clock, database, metrics }: EngineCtx): Promise<void> {
  const blockchains = chains.list().map(({ network }) => network.blockchain)
  const found = await queueDepths(database.reading, blockchains)
  for (const blockchain of blockchains)
    for (const state of ['waiting', 'signed', 'sent'] as const) {
      const queue = found.find((each) => each.blockchain === blockchain && each.state === state)
      metrics.queueDepth.set({ blockchain, state }, queue?.depth ?? 0)
      metrics.queueAge.set({ blockchain, state }, ageSeconds(clock.nowMs(), queue?.oldestDate))
    }
}

async function gatherChains(ctx: EngineCtx): Promise<void> {
  const { lagBlocks, lagSeconds, chainState } = ctx.metrics
  for (const chain of await listChains({ ...ctx, db: ctx.database.reading })) {
    const { blockchain } = chain
    for (const state of chainStates) chainState.set({ blockchain, state }, state === chain.state ? 1 : 0)
    setOrRemove(lagBlocks, { blockchain }, chain.lagBlocks)
    setOrRemove(lagSeconds, { blockchain }, chain.lagMs && chain.lagMs / 1_000)
  }
}

async function gatherDeliveries({ clock, database, metrics }: EngineCtx): Promise<void> {
  const { depth, oldestDate } = await waitingDeliveries(database.reading)
  metrics.deliveriesWaiting.set(depth)
  metrics.deliveriesAge.set(ageSeconds(clock.nowMs(), oldestDate))
}

async function gatherGaps({ chains, database, metrics }: EngineCtx): Promise<void> {
  const found = await gapCounts(database.reading)
  metrics.gaps.reset()
  for (const { network } of chains.list()) {
    const { blockchain } = network
    const { count = 0, open = 0 } = found.find((each) => each.blockchain === blockchain) ?? {}
    metrics.gaps.inc({ blockchain }, count)
    metrics.gapsOpen.set({ blockchain }, open)
  }
}

async function gatherHistories({ chains, clock, database, metrics }: EngineCtx): Promise<void> {
  const blockchains = chains.list().map(({ network }) => network.blockchain)
  for (const { blockchain, count, refusedSince } of await openHistories(database.reading, blockchains)) {
    metrics.histories.set({ blockchain }, count)
    metrics.historiesRefused.set({ blockchain }, ageSeconds(clock.nowMs(), refusedSince))
  }
}

async function gatherReplicas({ metrics, replicas }: EngineCtx): Promise<void> {
  for (const [position, { host, isUsed, lagBytes }] of ((await replicas?.states()) ?? []).entries()) {
    metrics.replicaUsed.set({ host, position }, isUsed ? 1 : 0)
    setOrRemove(metrics.replicaLag, { host, position }, lagBytes)
  }
}

async function gatherReadiness(ctx: EngineCtx): Promise<void> {
  const { database, clock, engines, signing } = await readinessOf(ctx)
  const isReady = (state: string) =>
    state === 'unknown' ? undefined : Number(/^(ready|running)$/.test(state))
  for (const [part, state] of Object.entries({ database, clock, engines, signing }))
    setOrRemove(ctx.metrics.ready, { part }, isReady(state))
  ctx.metrics.clockOff.set((ctx.clock.hostOffMs?.() ?? 0) / 1_000)
}

async function gatherJournals({ config, database, metrics }: EngineCtx): Promise<void> {
  metrics.journalsAwaited.set((await awaitedJournals(database.reading)).length)
  // A `serve` has none.
  const volume = await statfs(journalsDirectory(config)).catch(() => undefined)
  if (volume) metrics.journalFree.set(volume.bavail * volume.bsize)
}

const ageSeconds = (nowMs: number, date: string | null | undefined): number =>
  date ? Math.max(0, nowMs - Date.parse(date)) / 1_000 : 0

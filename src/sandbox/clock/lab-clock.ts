import { setTimeout as delay } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { formatInstant, parseInstant } from '#lib/time'
import type { LocalChain } from '../chains/index.ts'
import { createGate } from '../chains/read-write-lock.ts'
import { parseDuration } from '../durations.ts'
import { advanceTo, newProgress, shownProgress } from './advance.ts'
import { freezeChainTime, mineOnEach, releaseChainTime, setChainTime } from './chain-time.ts'
import { openSettableClock, type SettableClock } from './set-clock.ts'

/** Years of five digits are read neither by clients nor by the database, and some dates, as of certificates, are years ahead. */
const latestMs = Date.parse('9900-01-01T00:00:00.000Z')

/** A long advance goes on after its answer, before clients give up on it. */
const answeredWithinMs = 30_000

type LabParts = Pick<EngineCtx, 'database' | 'clock' | 'log'> & {
  chains: readonly LocalChain[]
}

type Goal = { by?: string; to?: string }

export type LabClock = ReturnType<typeof openLabClock>

/** The clock of the sandbox with its chains. Changes run one after another. */
export function openLabClock({ database, clock: businessTime, log, chains }: LabParts) {
  const clock = openSettableClock({ database, clock: businessTime })
  let isAdvancing = false
  let last = { progress: newProgress(), tookMs: 0 }
  const show = async () => {
    const { nowMs, offsetMs, isFrozen } = await clock.read()
    return { now: formatInstant(nowMs), offsetMs, isFrozen, isAdvancing }
  }
  const showLast = async () => ({
    ...(await show()),
    ...shownProgress(last.progress),
    tookMs: last.tookMs,
  })
  const { alone } = createGate()
  const requireStill = () => {
    if (isAdvancing)
      throw new ApiError(
        'unavailable',
        'The clock is advancing: try again when `isAdvancing` of GET /sandbox/clock is false.',
      )
  }
  const change = <T>(work: () => Promise<T>) =>
    alone(async () => {
      requireStill()
      return work()
    })
  const advance = async (goal: Goal) => {
    const startedMs = performance.now()
    const { nowMs, isFrozen } = await clock.read()
    const toMs = goalOf(goal, nowMs)
    const follow = (ms: number) => setChainTime(chains, ms, isFrozen)
    const progress = newProgress()
    last = { progress, tookMs: 0 }
    isAdvancing = true
    const advancing = advanceTo({ database, clock, follow }, toMs, progress)
      .then(() => mineOnEach(chains))
      .finally(() => {
        last.tookMs = Math.round(performance.now() - startedMs)
        isAdvancing = false
      })
    advancing.catch((error) => log.error({ err: error }, 'an advance of the clock ended early'))
    await Promise.race([advancing, delay(answeredWithinMs, undefined, { ref: false })])
    if (isAdvancing) last.tookMs = Math.round(performance.now() - startedMs)
    return showLast()
  }
  const freeze = async (at: string | undefined) => {
    const { nowMs } = await clock.read()
    await freezeAt(clock, chains, at === undefined ? undefined : laterInstant('at', at, nowMs))
    return show()
  }
  const release = async () => {
    await clock.release()
    await releaseChainTime(chains)
    const { nowMs } = await clock.read()
    await setChainTime(chains, nowMs, false)
    return show()
  }
  return {
    show,
    /** The last advance, also while it goes on. */
    showLast,
    /** Throws during an advance. */
    requireStill,
    advance: (goal: Goal) => change(() => advance(goal)),
    freeze: (at: string | undefined) => change(() => freeze(at)),
    release: () => change(release),
  }
}

/** Lets time stand still, of the chains too: now, or at a later instant, to which they follow. */
async function freezeAt(clock: SettableClock, chains: readonly LocalChain[], atMs: number | undefined) {
  await freezeChainTime(chains)
  if (atMs === undefined) return clock.freeze()
  await setChainTime(chains, atMs, true)
  await clock.freeze(atMs)
  await mineOnEach(chains)
}

function goalOf({ by, to }: Goal, nowMs: number): number {
  if (by !== undefined && to !== undefined)
    throw invalid({ at: 'to', reason: 'must not be sent together with `by`: send one of both', value: to })
  if (to !== undefined) return laterInstant('to', to, nowMs)
  if (by === undefined)
    throw invalid({ at: 'by', reason: 'is missing: send a duration, or `to` with an instant' })
  const durationMs = parseDuration(by)
  if (durationMs === undefined || durationMs === 0)
    throw invalid({
      at: 'by',
      reason:
        'must be a duration above zero of weeks, days, hours, minutes and seconds, such as P3DT4H or PT90S',
      value: by,
    })
  return requireEarlyEnough('by', by, nowMs + durationMs)
}

function laterInstant(at: string, text: string, nowMs: number): number {
  const instantMs = parseInstant(text)!
  if (instantMs < nowMs)
    throw invalid({
      at,
      reason: `must not be before ${formatInstant(nowMs)}, which is now: time only moves forward`,
      value: text,
    })
  return requireEarlyEnough(at, text, instantMs)
}

function requireEarlyEnough(at: string, value: string, instantMs: number): number {
  if (instantMs <= latestMs) return instantMs
  throw invalid({ at, reason: `must not lead beyond ${formatInstant(latestMs)}`, value })
}

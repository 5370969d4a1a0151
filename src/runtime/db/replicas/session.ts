import { setTimeout as sleep } from 'node:timers/promises'
import { shareNext } from '#runtime/scheduling/memoize'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { createEntityLanes, type Db, openOtherServer } from '../db.ts'
import {
  currentPosition,
  type Position,
  type StandbyState,
  standbyState,
  startOf,
  systemOf,
} from './store.ts'

/** The primary of a replica: the identifier of its system, and its current position. */
export type Primary = { system(): Promise<string>; position(): Promise<Position> }

/** Says why a replica cannot be used. */
export class ReplicaRefused extends Error {}

/** Connections to one run of the server of a replica, and the place up to which it is known to show the changes of the primary. */
export type ReplicaSession = {
  /** Asks the replica for its state; rejects with `ReplicaRefused` when it does not answer in time, or can no longer be used. */
  look(): Promise<void>
  /** Whether the replica shows all up to `position`, after `waitMs` at the latest; rejects as `look`. */
  reaches(position: Position, waitMs: number): Promise<boolean>
  replayedLsn(): bigint
  /** Runs a read when it is the entity's turn; rejects at once when the session ends. */
  run<Result>(entityId: string, read: (db: Db) => Promise<Result>): Promise<Result>
  end(reason: Error): Promise<void>
}

/** Time in which a replica must accept a connection, and answer for its state: reads on one that hangs are given up then. */
const connectionMs = 2_000
const answerMs = 750
const pollMs = 2

/** Connects to a replica; rejects with `ReplicaRefused` when it cannot be used. */
export async function openSession(
  url: string,
  maxConnections: number,
  primary: Primary,
): Promise<ReplicaSession> {
  const watcher = openOtherServer({ url }, { maxConnections: 1, connectionMs, as: 'user' })
  try {
    const [system, { timeline }] = await Promise.all([primary.system(), primary.position()])
    const expected = { system, timeline }
    const found = await readState(watcher, expected)
    const pool = openOtherServer({ url }, { maxConnections, connectionMs, as: 'runtime', accept })
    async function accept(db: Pick<Db, 'one'>) {
      const { startedAt } = await db.one<{ startedAt: string }>(startOf)
      if (startedAt !== found.startedAt) throw new ReplicaRefused(severalServers)
    }
    try {
      await answered(pool.one(startOf))
      return sessionOf(watcher, pool, createEntityLanes(maxConnections), expected, found)
    } catch (error) {
      void pool.close()
      throw error
    }
  } catch (error) {
    void watcher.close()
    throw error
  }
}

const severalServers =
  'its address leads to several servers, or it was started again: name each server by a URL of its own'

type Expected = { system: string; timeline: number }
type ReplayState = { startedAt: string; replayedLsn: bigint }
type Server = ReturnType<typeof openOtherServer>
type EntityLanes = ReturnType<typeof createEntityLanes>

function sessionOf(
  watcher: Server,
  pool: Server,
  lanes: EntityLanes,
  expected: Expected,
  found: ReplayState,
): ReplicaSession {
  let { replayedLsn } = found
  let ended: Error | undefined
  const underWay = new Set<(reason: Error) => void>()
  const look = shareNext(async () => {
    const { startedAt, replayedLsn: lsn } = await readState(watcher, expected)
    if (startedAt !== found.startedAt) throw new ReplicaRefused(severalServers)
    if (lsn > replayedLsn) replayedLsn = lsn
  })
  return {
    look,
    reaches: async ({ timeline, lsn }, waitMs) => {
      if (timeline !== expected.timeline) throw new ReplicaRefused(otherTimeline(expected.timeline, timeline))
      const endMs = performance.now() + waitMs
      while (lsn > replayedLsn) {
        await look()
        if (lsn <= replayedLsn) break
        if (ended || performance.now() > endMs) return false
        await sleep(pollMs)
      }
      return true
    },
    replayedLsn: () => replayedLsn,
    run: <Result>(entityId: string, read: (db: Db) => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        if (ended) return reject(ended)
        underWay.add(reject)
        const done = lanes.run(entityId, () => read(pool))
        done.then(resolve, reject).finally(() => underWay.delete(reject))
      }),
    end: async (reason) => {
      if (ended) return
      ended = reason
      for (const reject of underWay) reject(reason)
      await Promise.all([watcher.close(), pool.close()])
    },
  }
}

async function readState(watcher: Db, expected: Expected): Promise<ReplayState> {
  const state = await answered(standbyState(watcher))
  const refusal = refusalOf(state, expected)
  if (refusal !== undefined) throw new ReplicaRefused(refusal)
  return { startedAt: state.startedAt, replayedLsn: state.replayedLsn! }
}

/** The answer of a replica; rejects with `ReplicaRefused` without one. */
async function answered<Result>(work: Promise<Result>): Promise<Result> {
  const settled = work.then(
    (result) => ({ result }),
    (error: Error) => ({ error }),
  )
  const outcome = await resultWithin(answerMs, settled)
  if (outcome && 'result' in outcome) return outcome.result
  if (outcome?.error instanceof ReplicaRefused) throw outcome.error
  throw new ReplicaRefused(`it does not answer${outcome ? `: ${outcome.error.message}` : ''}`)
}

/** Number of bytes of the primary's log that a replica has not replayed; rejects with `ReplicaRefused` when it cannot be used. */
export async function replicaLagBytes(url: string, db: Db): Promise<number> {
  const primary = { system: () => systemOf(db), position: () => currentPosition(db) }
  const { lsn } = await primary.position()
  const session = await openSession(url, 1, primary)
  await session.end(new ReplicaRefused('it was looked at'))
  return Math.max(0, Number(lsn - session.replayedLsn()))
}

/** Why a server is no replica of this primary that can be used, if so. */
function refusalOf(state: StandbyState, { system, timeline }: Expected): string | undefined {
  if (state.system !== system) return 'it is no physical copy of the database of DATABASE_URL'
  if (!state.isStandby) return 'it is no standby: it was promoted, or it is the primary'
  if (!state.isConnected) return 'it receives nothing: it is connected to no primary'
  if (state.connection === null) return 'its user must see its state: grant pg_read_all_stats to that user'
  if (state.connection !== 'streaming') return `it receives nothing: its connection is "${state.connection}"`
  return state.timeline === timeline ? undefined : otherTimeline(state.timeline, timeline)
}

const otherTimeline = (followed: number | null, timeline: number) =>
  `it follows timeline ${followed}, and the primary writes timeline ${timeline}`

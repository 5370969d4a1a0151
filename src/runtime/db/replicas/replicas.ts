/**
 * Reads from physical copies of the database. A request may read from a replica once that has replayed all that the primary had
 * flushed after the request arrived, so that it sees what any process has told of before: answers and notifications alike.
 */
import { ApiError } from '#lib/errors'
import type { Log } from '#runtime/log/log'
import { shareNext, succeedOnce } from '#runtime/scheduling/memoize'
import type { Metrics } from '#runtime/telemetry/metrics'
import type { Database, Db } from '../db.ts'
import { isDatabaseAway, sqlState } from '../errors.ts'
import { openReplica, type Replica } from './replica.ts'
import { ReplicaRefused, type ReplicaSession } from './session.ts'
import { currentPosition, systemOf } from './store.ts'

export type Replicas = {
  /** The reads of one request: on a replica that shows all that happened before, else on the primary, to which `primary` leads. */
  readingFor(entityId: string, primary: Db): Db
  /** The state of each; `lagBytes` is absent while there is no connection. */
  states(): Promise<ReplicaState[]>
  stop(): Promise<void>
}

type ReplicaState = { host: string; isUsed: boolean; lagBytes: number | undefined }

type ReplicasInput = {
  urls: readonly string[]
  /** Most connections of this process to each replica. */
  maxConnections: number
  database: Database
  log: Log
  metrics: Metrics
}

/** The longest that a request waits for a replica. */
const waitMs = 100

export function openReplicas({ urls, maxConnections, database, log, metrics }: ReplicasInput): Replicas {
  const primary = {
    system: succeedOnce(() => systemOf(database.reading)),
    // A call is answered by a statement that begins after it, which all calls meanwhile share.
    position: shareNext(() => currentPosition(database.reading)),
  }
  const replicas = urls.map((url) => openReplica({ url, maxConnections, primary, log, waitMs }))
  const choose = createChoice(replicas, primary.position)
  const count = (outcome: ReadOutcome) => metrics.replicaReads.inc({ outcome })
  return {
    readingFor: (entityId, db) => {
      const chosen = succeedOnce(async () => {
        const { choice, outcome } = await choose()
        count(outcome)
        return choice
      })
      return callsOn(entityId, db, chosen, () => count('failed'))
    },
    states: async () => {
      const position = await primary.position()
      return Promise.all(
        replicas.map(async ({ host, usable, session }) => {
          const open = session()
          await open?.look().catch(() => undefined)
          const lagBytes = open && Math.max(0, Number(position.lsn - open.replayedLsn()))
          return { host, isUsed: usable() !== undefined, lagBytes }
        }),
      )
    },
    stop: async () => void (await Promise.all(replicas.map((replica) => replica.stop()))),
  }
}

type ReadOutcome = 'replica' | 'behind' | 'unavailable' | 'failed'
type Choice = { replica: Replica; session: ReplicaSession }
type ReadChoice = { choice?: Choice; outcome: ReadOutcome }

/** Returns the choice of a replica for one request: they take turns. */
function createChoice(replicas: readonly Replica[], position: () => ReturnType<typeof currentPosition>) {
  let turn = 0
  return async (): Promise<ReadChoice> => {
    const usable = replicas.filter((replica) => replica.usable())
    const replica = usable[turn++ % Math.max(1, usable.length)]
    const session = replica?.usable()
    if (!replica || !session)
      return { outcome: replicas.some((each) => each.isBehind()) ? 'behind' : 'unavailable' }
    const reached = await position().then(
      (wanted) => session.reaches(wanted, waitMs).catch((error: Error) => replica.giveUp(session, error)),
      () => undefined,
    )
    if (reached) return { choice: { replica, session }, outcome: 'replica' }
    if (reached === undefined) return { outcome: 'unavailable' }
    replica.fellBehind(session)
    return { outcome: 'behind' }
  }
}

/**
 * The calls of one request. Once one of them has been on the primary, all further are: the primary is ahead, and what a request
 * has seen must not be gone again.
 */
function callsOn(
  entityId: string,
  primary: Db,
  chosen: () => Promise<Choice | undefined>,
  onFailed: () => void,
): Db {
  let hasFailed = false
  const read = async <Result>(work: (db: Db) => Promise<Result>): Promise<Result> => {
    const choice = hasFailed ? undefined : await chosen()
    if (!choice || hasFailed) return work(primary)
    const { replica, session } = choice
    try {
      return await session.run(entityId, work)
    } catch (error) {
      if (!isOfReplica(error)) throw error
      if (!hasFailed) onFailed()
      hasFailed = true
      if (isLost(error)) replica.giveUp(session, error as Error)
      return work(primary)
    }
  }
  return {
    all: (query) => read((db) => db.all(query)),
    one: (query) => read((db) => db.one(query)),
    maybe: (query) => read((db) => db.maybe(query)),
    run: (query) => read((db) => db.run(query)),
    tx: (work, limits) => read((db) => db.tx(work, limits)),
    script: (text) => read((db) => db.script(text)),
  }
}

const statementTooLong = '57014'

/** Whether the primary may answer what a replica did not: a statement that takes too long would take as long there. */
const isOfReplica = (error: unknown) => !(error instanceof ApiError) && sqlState(error) !== statementTooLong

/** Codes of reads that the replay of changes ends, because it removes rows that they read, or waits for a lock with them. */
const replayConflicts = /^(40...|55P03)$/

const isLost = (error: unknown) =>
  error instanceof ReplicaRefused || (isDatabaseAway(error) && !replayConflicts.test(sqlState(error) ?? ''))

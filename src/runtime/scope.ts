import type { Clock } from '#lib/time'
import type { Config } from './config.ts'
import type { Database, Db } from './db/db.ts'
import type { Log } from './log/log.ts'
import type { Metrics } from './telemetry/metrics.ts'

/** What every piece of work has at hand, whoever asked for it. */
export type Scope = {
  config: Config
  database: Database
  /** The pool, or the `tx` that the current work is part of. */
  db: Db
  clock: Clock
  log: Log
  /** The figures of this process, made once in `context.ts`. */
  metrics: Metrics
}

export type Environment = 'TEST' | 'LIVE'

/** Scopes of an API key: the customer's interface, and the operator's, to read or to write. */
export const keyScopes = ['api', 'operator:read', 'operator:write'] as const
export type KeyScope = (typeof keyScopes)[number]

/** Who asks, through which key, in which request. */
export type Caller = {
  entity: { id: string; environment: Environment; appId: string }
  actor: string
  requestId: string
}

/** A request's scope: `tx` makes the same scope with its `db` inside one database transaction. */
export type RequestScope = Scope &
  Caller & {
    /** The instant this request was received, in milliseconds: the default of `to`. */
    receivedMs: number
    /** What must be written although the request's `tx` was rolled back, such as a ciphertext that was shown. */
    afterRollback: (() => Promise<void>)[]
    /** What is worth doing once the request's `tx` has committed, and does no harm when it is left out, such as a wake-up call. */
    afterCommit: (() => Promise<unknown>)[]
  }

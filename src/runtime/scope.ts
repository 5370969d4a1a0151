import type { Clock } from '#lib/time'
import type { Config } from './config.ts'
import type { Database, Db } from './db/db.ts'
import type { Replicas } from './db/replicas/replicas.ts'
import type { Log } from './log/log.ts'
import type { Metrics } from './telemetry/metrics.ts'

/** The dependencies of all work, of requests and engines alike. */
export type Scope = {
  config: Config
  database: Database
  /** The pool, or the `tx` that the current work is part of. */
  db: Db
  /** Present in an API that reads from replicas of the database. */
  replicas?: Replicas
  clock: Clock
  log: Log
  /** The metrics of this process, created once in `context.ts`. */
  metrics: Metrics
}

export type EntityEnvironment = 'TEST' | 'LIVE'

/** Scopes of an API key: the customer API, and the operator API for reading or writing. */
export const keyScopes = ['api', 'operator:read', 'operator:write'] as const
/** `client` is the only scope of a client key, which a page may hold: it opens the JSON-RPC endpoint and nothing else. */
export type KeyScope = (typeof keyScopes)[number] | 'client'

/** Roles of a member in an entity: reads everything; uses the customer's interface too; decides and controls as well. */
export const memberRoles = ['viewer', 'developer', 'operator'] as const
export type MemberRole = (typeof memberRoles)[number]

/** The scopes that the session of a member with this role opens. Viewers change nothing, whatever the scope. */
export const scopesOfRole: Readonly<Record<MemberRole, readonly KeyScope[]>> = {
  viewer: ['api', 'operator:read'],
  developer: ['api', 'operator:read'],
  operator: ['api', 'operator:read', 'operator:write'],
}

/** A person who signed in to the console, and their session. */
export type Member = {
  id: string
  name: string
  role: MemberRole
  /** Whether the sign-in had a one-time code. */
  hasCode: boolean
  sessionId: string
  /** The token that pages of this server send in X-Bezant-Console. */
  csrfToken: string
}

/** The scope of work for one entity, by a request or by a worker. */
export type EntityScope = Scope & { entity: { id: string }; actor: string }

/** The caller of a request: its entity, its key or member, and the request id. */
export type Caller = {
  entity: { id: string; environment: EntityEnvironment; appId: string }
  actor: string
  /** Present when a member sent the request by their session, and no key did. */
  member?: Member
  requestId: string
}

/**
 * The user that a request acts for, by its X-User-Token. `userId` is the id that the app chose, `tokenId` that of the token,
 * `deviceId` that of the device where a login began its session.
 */
export type TokenUser = { id: string; userId: string; tokenId: string; deviceId?: string | undefined }

/** A request's scope; inside a database transaction its `db` is the `tx`. */
export type RequestScope = Scope &
  Caller & {
    /** Absent when the request acts for the entity. */
    user?: TokenUser
    /** Identifies an idempotent request by its key, operation and contents; absent for others. */
    requestDigest?: Buffer
    /** The source address of a request with a public key or without a key; absent for API keys. */
    page?: string | undefined
    /** The tool of an agent that sent the request, as its header says. */
    tool?: string | undefined
    /** Time of receipt of this request, in milliseconds: the default of `to`. */
    receivedMs: number
    /** Whether the client still waits for the answer, as far as its connection tells. */
    isWaitedFor?: () => boolean
    /** Writes that must happen although the request's `tx` was rolled back, such as recording a used ciphertext. */
    afterRollback: (() => Promise<void>)[]
    /** Optional actions after the commit of the request's `tx`, such as waking an engine; omitting one does no harm. */
    afterCommit: (() => Promise<unknown>)[]
  }

import { hostname } from 'node:os'
import type { PoolConfig } from 'pg'

/**
 * Server timeouts: for a session that is idle inside a transaction (its process may be frozen), for a lock that another
 * session holds, and for a statement; 0 is unlimited.
 */
export type SessionLimits = { idleMs: number; lockMs: number; statementMs: number }

/** Limits of writing work. A frozen process holds its locks for `idleMs`; `lockMs` is longer, so others outwait it. */
export const workLimits: SessionLimits = { idleMs: 10_000, lockMs: 15_000, statementMs: 30_000 }

/** Limits of reads: customers wait for the answers. */
export const readLimits: SessionLimits = { idleMs: 10_000, lockMs: 5_000, statementMs: 15_000 }

/** Limits of work that reads or writes whole tables, such as proofs and the merge of a journal. */
export const longLimits: SessionLimits = { idleMs: 60_000, lockMs: 60_000, statementMs: 900_000 }

/** Limits of migrations, whose statements are not limited; a frozen migration must not block every start. */
export const ownerLimits: SessionLimits = { idleMs: 60_000, lockMs: 0, statementMs: 0 }

/** Additional time that the client waits beyond the server's limit, in case a broken network loses the answer. */
const graceMs = 5_000

/** Returns the driver's timeout for the answer to a statement. */
export const answerMs = ({ statementMs }: SessionLimits): number =>
  statementMs === 0 ? 0 : statementMs + graceMs

/** Maximum wait for a free connection, for a turn in the queue for one, or for the server to accept a new one. */
export const connectMs = 15_000
const keepAliveMs = 5_000

/** Settings that end the sessions of unreachable hosts, which acknowledge no data. */
const partition = {
  tcp_user_timeout: 10_000,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
}

/** A parameter of our own that no user has by default. */
export const optionsKept = 'bezant.options_kept'

/** Returns the settings of a connection, with `more` as further parameters of the session. */
export function connectionSettings(limits: SessionLimits, more: Record<string, string> = {}): PoolConfig {
  const session = {
    timezone: 'UTC',
    idle_in_transaction_session_timeout: limits.idleMs,
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    // The server compiles statements whose estimated cost is high: a third of a second for a claim that runs in a millisecond.
    jit: 'off',
    // Tells at the start that no pooler dropped what was asked for.
    [optionsKept]: 'yes',
    ...partition,
    ...more,
  }
  return {
    options: Object.entries(session)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    // Alarms identify the session by this name: host and process.
    application_name: `bezant ${hostname()}:${process.pid}`.slice(0, 63),
    query_timeout: answerMs(limits),
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  }
}

/** The same without parameters of the session, which a pooler in transaction mode refuses. */
export const withoutSession = ({ options: _, ...rest }: PoolConfig): PoolConfig => rest

/** Returns the statements that set other limits for the current transaction. */
export const setLimits = ({ idleMs, lockMs, statementMs }: SessionLimits): string =>
  `set local idle_in_transaction_session_timeout = ${idleMs}; set local lock_timeout = ${lockMs};
  set local statement_timeout = ${statementMs}`

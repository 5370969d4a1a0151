import { hostname } from 'node:os'
import type { PoolConfig } from 'pg'

/**
 * How long the server waits before it ends a session that holds a transaction open and does nothing (its process may be
 * frozen), refuses a lock that another one holds, and ends a statement; 0 is for ever.
 */
export type Limits = { idleMs: number; lockMs: number; statementMs: number }

/** Of all that claims, signs and books: a frozen process holds its locks for `idleMs`, and others wait for them longer. */
export const workLimits: Limits = { idleMs: 10_000, lockMs: 15_000, statementMs: 30_000 }

/** Of questions: customers wait for the answers. */
export const readLimits: Limits = { idleMs: 10_000, lockMs: 5_000, statementMs: 15_000 }

/** Of what reads or writes whole tables, such as proofs and the merge of a journal. */
export const unhurried: Limits = { idleMs: 60_000, lockMs: 60_000, statementMs: 900_000 }

/** Of migrations, which take as long as they take; a frozen one must not stop every start. */
export const ownerLimits: Limits = { idleMs: 60_000, lockMs: 0, statementMs: 0 }

/** How much longer than the server the client waits for an answer, which a broken network loses. */
const graceMs = 5_000

/** The driver's limit for the answer to a statement. */
export const answerMs = ({ statementMs }: Limits): number => (statementMs === 0 ? 0 : statementMs + graceMs)

/** How long work waits for a free connection, for its turn at one, or for the server to take a new one. */
export const connectMs = 15_000
const keepAliveMs = 5_000

/** Ends the sessions of hosts that are gone: what was sent to them is never acknowledged. */
const partition = {
  tcp_user_timeout: 10_000,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
}

/** Settings of a connection, with `more` as further parameters of the session. */
export function connectionSettings(limits: Limits, more: Record<string, string> = {}): PoolConfig {
  const session = {
    timezone: 'UTC',
    idle_in_transaction_session_timeout: limits.idleMs,
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    ...partition,
    ...more,
  }
  return {
    options: Object.entries(session)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    // An alarm names the session by it: which process, on which machine.
    application_name: `bezant ${hostname()}:${process.pid}`.slice(0, 63),
    query_timeout: answerMs(limits),
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  }
}

/** Puts other limits on the transaction that has just begun. */
export const setLimits = ({ idleMs, lockMs, statementMs }: Limits): string =>
  `set local idle_in_transaction_session_timeout = ${idleMs}; set local lock_timeout = ${lockMs};
  set local statement_timeout = ${statementMs}`

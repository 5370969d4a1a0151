/** Returns the SQLSTATE of a database error, to distinguish a violated constraint from a lost connection. */
export const sqlState = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined

/**
 * Returns the name of the constraint that a database error reports. The coordinator of a distributed server passes on texts alone, in
 * which the constraints of shards have a number.
 */
export function constraintOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { constraint, detail, message } = error as { constraint?: string; detail?: string; message?: string }
  return constraint ?? /\bconstraint "(\w+?)(?:_\d{6,})?"/.exec(`${detail} ${message}`)?.[1]
}

/**
 * Codes for a session ended by the server (25P03: it was idle inside a transaction) or a broken network connection. A server that
 * only reads (25006) is no longer the primary, or is not yet: a new connection may find the one that is.
 */
const lostCodes =
  /^(08...|57P..|25P0[34]|25006|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOENT|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_.*)$/
/** Messages of errors that the client raises itself, without a code. */
const lostTexts =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|Query read timeout)/

/** Whether the connection is lost. It is then unknown whether a pending commit succeeded. */
export const isConnectionLost = (error: unknown): boolean =>
  lostCodes.test(sqlState(error) ?? '') || (error instanceof Error && lostTexts.test(error.message))

/** Codes for insufficient resources (53…), deadlock (40P01), lock timeout (55P03) and statement timeout (57014). */
const busyCodes = /^(53...|40P01|55P03|57014)$/
const busyText = 'timeout exceeded when trying to connect'

/** Whether the database was unreachable, cut the connection or was too busy. The work itself did not fail and is retried. */
export const isDatabaseAway = (error: unknown): boolean =>
  isConnectionLost(error) ||
  busyCodes.test(sqlState(error) ?? '') ||
  (error instanceof Error && (error.message === busyText || nodeFailed.test(error.message)))

/** The coordinator of a distributed server says no more of a lock that was not free on another node in time. */
const nodeFailed = /^failure on connection marked as essential/

/** Whether a lock was not free within the time for it. */
export const isLockNotFree = (error: unknown): boolean =>
  sqlState(error) === '55P03' || (error instanceof Error && nodeFailed.test(error.message))

/** Whether the database, or the connection to it, raised the error. Errors of nodes carry no code under this name. */
export const isDatabaseError = (error: unknown): boolean =>
  sqlState(error) !== undefined || isDatabaseAway(error)

/** Whether the server refused to write because its volume is full. It still answers reads then. */
export const isVolumeFull = (error: unknown): boolean => sqlState(error) === '53100'

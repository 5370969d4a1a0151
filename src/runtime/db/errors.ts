/** The SQLSTATE of a database error, to tell a broken constraint from a lost connection. */
export const sqlState = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined

/** The name of the constraint that a database error reports. */
export const constraintOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'constraint' in error ? String(error.constraint) : undefined

/** The server ended the session (25P03: it stood idle inside a transaction), or the network broke. */
const lostCodes = /^(08...|57P..|25P0[34]|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOENT|ERR_STREAM_.*)$/
/** The client says these itself, without a code. */
const lostTexts =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|Query read timeout)/

/** Whether the connection is of no more use: whether a commit was done is not known then. */
export const isConnectionLost = (error: unknown): boolean =>
  lostCodes.test(sqlState(error) ?? '') || (error instanceof Error && lostTexts.test(error.message))

/** No room (53…), a deadlock (40P01), a lock that was not free in time (55P03), a statement that took too long (57014). */
const busyCodes = /^(53...|40P01|55P03|57014)$/
const busyText = 'timeout exceeded when trying to connect'

/** Whether the database could not be reached, cut the connection or was too busy: it says nothing of the work, which is tried again. */
export const isDatabaseAway = (error: unknown): boolean =>
  isConnectionLost(error) ||
  busyCodes.test(sqlState(error) ?? '') ||
  (error instanceof Error && error.message === busyText)

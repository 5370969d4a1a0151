/** The logger interface that the supervisor needs; pino satisfies it. */
export type EmbeddedLog = {
  info: (details: object, message: string) => void
  warn: (details: object, message: string) => void
  error: (details: object, message: string) => void
}

/** Logs one line of PostgreSQL's log at the matching level. */
export function relayLine(log: EmbeddedLog, line: string): void {
  const [, severity, message] = /^(LOG|WARNING|FATAL|PANIC|DETAIL|HINT):\s+(.*)$/.exec(line) ?? []
  const details = { source: 'postgres' }
  if (severity === 'PANIC') log.error(details, message!)
  // FATAL ends one connection (an administrator's shutdown, too many clients), never the server.
  else if (severity === 'FATAL' || severity === 'WARNING') log.warn(details, message!)
  else log.info(details, message ?? line)
}

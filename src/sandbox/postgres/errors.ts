type EmbeddedPostgresErrorCode = 'IN_USE' | 'NOT_RUNNING' | 'NO_BINARIES' | 'UNUSABLE' | 'START_FAILED'

/** An error of the embedded database; its message names the remedy. */
export class EmbeddedPostgresError extends Error {
  readonly code: EmbeddedPostgresErrorCode

  constructor(code: EmbeddedPostgresErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EmbeddedPostgresError'
    this.code = code
  }
}

export const USE_A_SERVER = 'or set DATABASE_URL to use a PostgreSQL server of your own'

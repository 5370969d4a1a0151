export type EmbeddedErrorCode = 'IN_USE' | 'NOT_RUNNING' | 'NO_BINARIES' | 'UNUSABLE' | 'START_FAILED'

/** An error of the embedded database; its message names the remedy. */
export class EmbeddedPostgresError extends Error {
  readonly code: EmbeddedErrorCode

  constructor(code: EmbeddedErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EmbeddedPostgresError'
    this.code = code
  }
}

export const USE_A_SERVER = 'or set DATABASE_URL to use a PostgreSQL server of your own'

/** The code of a failed system call (`ENOENT`, `EACCES`…). */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

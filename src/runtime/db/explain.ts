import type { Connection } from './connection.ts'

const unreachable = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOENT',
  'ECONNRESET',
]

const startIt = 'start PostgreSQL there'

/** The remedies for what is most often no wrong setting. A path without a socket is a server that does not run. */
const firstRemedies: Readonly<Record<string, string>> = {
  '3D000': 'create it first',
  ECONNREFUSED: startIt,
  ENOENT: startIt,
}

/** The answer of a pooler that keeps no settings of sessions, such as PgBouncer. */
const fromPooler = /unsupported startup parameter/

const pooler =
  'DATABASE_URL leads to a pooler, which keeps no settings of sessions: set BEZANT_DIRECT_DATABASE_URL to the address of the database itself, as docs/operate.md says of PgBouncer'

/** Explains a server that is unreachable at the start, most often a wrong setting. `otherwise` is one more remedy to name. */
export const explainDatabase =
  (connection: Connection, otherwise?: string) =>
  (error: NodeJS.ErrnoException): never => {
    const code = error.code ?? ''
    if (fromPooler.test(error.message)) throw new Error(pooler, { cause: error })
    // Class 28 is a wrong name or password.
    if (!('url' in connection) || !(code === '3D000' || code.startsWith('28') || unreachable.includes(code)))
      throw error
    const where = connection.url.replace(/\/\/[^@/]*@/, '//')
    const remedies = [firstRemedies[code], 'correct DATABASE_URL', otherwise]
    throw new Error(
      `the database at ${where} cannot be used (${error.message || code}): ${remedies.filter(Boolean).join(', or ')}`,
      { cause: error },
    )
  }

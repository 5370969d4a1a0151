import type { Connection } from './db.ts'

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

/** Explains a server that is unreachable at the start, most often a wrong setting. `otherwise` is one more remedy to name. */
export const explainDatabase =
  (connection: Connection, otherwise?: string) =>
  (error: NodeJS.ErrnoException): never => {
    const code = error.code ?? ''
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

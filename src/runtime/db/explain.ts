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

/** Explains a server that is unreachable at the start, most often a wrong setting. `otherwise` is one more remedy to name. */
export const explainDatabase =
  (connection: Connection, otherwise?: string) =>
  (error: NodeJS.ErrnoException): never => {
    const code = error.code ?? ''
    const missing = code === '3D000'
    // Class 28 is a wrong name or password.
    if (!('url' in connection) || !(missing || code.startsWith('28') || unreachable.includes(code)))
      throw error
    const where = connection.url.replace(/\/\/[^@/]*@/, '//')
    const remedies = [...(missing ? ['create it first'] : []), 'correct DATABASE_URL', otherwise]
    throw new Error(
      `the database at ${where} cannot be used (${error.message || code}): ${remedies.filter(Boolean).join(', or ')}`,
      { cause: error },
    )
  }

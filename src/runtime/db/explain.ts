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

/** A server that cannot be reached at the start is most often a wrong setting. */
export const explainDatabase =
  (connection: Connection) =>
  (error: NodeJS.ErrnoException): never => {
    const code = error.code ?? ''
    const missing = code === '3D000'
    // Class 28 is a wrong name or password.
    if (!('url' in connection) || !(missing || code.startsWith('28') || unreachable.includes(code)))
      throw error
    const where = connection.url.replace(/\/\/[^@/]*@/, '//')
    const remedy = missing ? 'create it first, or correct DATABASE_URL' : 'correct DATABASE_URL'
    throw new Error(
      `the database at ${where} cannot be used (${error.message || code}): ${remedy}, or unset it to use the embedded one`,
      { cause: error },
    )
  }

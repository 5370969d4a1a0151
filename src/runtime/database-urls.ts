import { parseDatabaseUrl } from './database-url.ts'

const isUrl = (text: string) => /^postgres(ql)?:\/\//.test(text)

const example = 'postgresql://user:password@host:5432/name'

type Urls = Record<'primary' | 'direct' | 'replicas', string | undefined>

/** Parses the addresses of the database: its own, that behind a pooler, and those of replicas that the API reads from. */
export const databaseUrlsOf = ({ primary, direct, replicas }: Urls) => ({
  databaseUrl: urlOf(primary, 'DATABASE_URL'),
  directDatabaseUrl: urlOf(direct, 'BEZANT_DIRECT_DATABASE_URL'),
  readDatabaseUrls: replicaUrlsOf(replicas),
})

function urlOf(text: string | undefined, name: string): string | undefined {
  if (!text) return undefined
  parseDatabaseUrl(text, name)
  return text
}

function replicaUrlsOf(text: string | undefined): string[] {
  const urls = (text ?? '').split(',').map((url) => url.trim())
  const given = urls.filter((url) => url !== '')
  if (given.every((url) => isUrl(url) && URL.canParse(url))) return given
  // Without the text, which may hold a password.
  throw new Error(
    `BEZANT_READ_DATABASE_URL must be addresses of replicas of the database, separated by commas, such as ${example}; write a comma in a password as %2C`,
  )
}

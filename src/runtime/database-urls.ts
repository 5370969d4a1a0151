const isUrl = (text: string) => /^postgres(ql)?:\/\//.test(text)

const example = 'postgresql://user:password@host:5432/name'

/** Parses DATABASE_URL, and BEZANT_READ_DATABASE_URL, which names replicas that the API reads from. */
export const databaseUrlsOf = (primary: string | undefined, replicas: string | undefined) => ({
  databaseUrl: primaryUrlOf(primary),
  readDatabaseUrls: replicaUrlsOf(replicas),
})

function primaryUrlOf(text: string | undefined): string | undefined {
  if (!text || isUrl(text)) return text || undefined
  throw new Error(`DATABASE_URL must be the address of a PostgreSQL, such as ${example}`)
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

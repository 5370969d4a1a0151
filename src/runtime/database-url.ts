/** One server of `DATABASE_URL`. */
export type DatabaseServer = { host: string; port: number }

type DatabaseUrl = {
  /** The same URL with its first server alone, for the driver, which knows one. */
  first: string
  servers: DatabaseServer[]
  /** Whether a connection must be to the server that writes: with several servers, or where the URL says so. */
  needsPrimary: boolean
}

const defaultPort = 5432
const exampleUrl = 'postgresql://user:password@host:5432/name'
const scheme = /^postgres(?:ql)?:\/\//
const shape = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)([^?#]*)(?:\?([^#]*))?$/
const one = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/

/**
 * Reads the URL of a database, which may name several servers as those of libpq do:
 * `postgresql://user@one:5432,two:5432/name?target_session_attrs=read-write`. Throws with what is wrong; `name` is the setting.
 */
export function parseDatabaseUrl(url: string, name = 'DATABASE_URL'): DatabaseUrl {
  const [, start = '', hosts = '', path = '', query = ''] = shape.exec(url) ?? []
  if (start === '') throw new Error(`${name} must be the address of a PostgreSQL, such as ${exampleUrl}`)
  const parameters = query.split('&').filter((each) => each !== '')
  const isTarget = (parameter: string) => parameter.startsWith('target_session_attrs=')
  const target = parameters.find(isTarget)?.split('=')[1]
  if (target !== undefined && target !== 'read-write' && target !== 'primary')
    throw new Error(
      `${name}: target_session_attrs must be read-write or primary, because the program writes, not "${target}"`,
    )
  const listed = hosts.split(',')
  const servers = listed.map((text) => serverOf(text, name, listed.length > 1))
  const rest = parameters.filter((each) => !isTarget(each)).join('&')
  return {
    first: `${start}${listed[0]}${path}${rest && `?${rest}`}`,
    servers,
    needsPrimary: servers.length > 1 || target !== undefined,
  }
}

function serverOf(text: string, name: string, isOneOfSeveral: boolean): DatabaseServer {
  const [, host = '', port] = one.exec(text) ?? []
  if (isOneOfSeveral && host === '')
    throw new Error(`${name}: "${text}" is no server; several are listed as host:port,host:port`)
  return { host: decodeURIComponent(host).replace(/^\[(.*)\]$/, '$1'), port: Number(port ?? defaultPort) }
}

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
  if (given.every((url) => scheme.test(url) && URL.canParse(url))) return given
  // Without the text, which may hold a password.
  throw new Error(
    `BEZANT_READ_DATABASE_URL must be addresses of replicas of the database, separated by commas, such as ${exampleUrl}; write a comma in a password as %2C`,
  )
}

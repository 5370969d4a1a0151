/** How connections of a URL are protected on their way, as the driver itself reads the URL and its environment. */
import pg from 'pg'
import { type DatabaseServer, parseDatabaseUrl } from '#runtime/database-url'

/** `unverified` is TLS with any certificate. A host that begins with a slash is the directory of a socket. */
type DatabaseTransport = { hosts: string[]; encryption: 'none' | 'unverified' | 'verified' }

const askMs = 3_000

/** Throws where a file that the URL names cannot be read. */
export function transportOf(url: string): DatabaseTransport {
  const { first, servers } = parseDatabaseUrl(url)
  const client = new pg.Client({ connectionString: first })
  return {
    hosts: servers.length > 1 ? servers.map(({ host }) => host) : [client.host],
    encryption: encryptionOf(tlsOf(client)),
  }
}

/** The options of TLS, which the types of the driver do not show. */
function tlsOf({ ssl }: pg.Client): { rejectUnauthorized?: boolean; cert?: string } | undefined {
  const given: unknown = ssl
  if (!given) return undefined
  return typeof given === 'object' ? given : {}
}

function encryptionOf(tls: ReturnType<typeof tlsOf>): DatabaseTransport['encryption'] {
  if (!tls) return 'none'
  return tls.rejectUnauthorized === false ? 'unverified' : 'verified'
}

/**
 * Returns the servers of a URL that take a connection without asking for a password or a certificate. Sockets are left out, because
 * the system tells their server who connects, and so are servers that do not answer.
 */
export async function serversWithoutPassword(url: string): Promise<string[]> {
  const { first, servers } = parseDatabaseUrl(url)
  const found = await Promise.all(servers.map((server) => asksNothing(first, servers.length > 1 && server)))
  return found.filter((host) => host !== undefined)
}

/** Returns the host if it asks for nothing. The driver calls for the password when the server asks for one. */
async function asksNothing(connectionString: string, server: DatabaseServer | false) {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: askMs })
  client.on('error', () => undefined)
  const { password } = client
  let isAsked = false
  const give = () => {
    isAsked = true
    return password ?? ''
  }
  Object.assign(client, { ...(server || undefined), password: give })
  if (client.host.startsWith('/') || tlsOf(client)?.cert !== undefined) return undefined
  try {
    await client.connect()
    return isAsked ? undefined : client.host
  } catch {
    return undefined
  } finally {
    client.end().catch(() => undefined)
  }
}

import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '#lib/errors'
import { isSameText } from '#lib/same-text'
import type { KeyHolder } from '#runtime/auth/authenticate'
import { type Caller, type Member, scopesOfRole } from '#runtime/scope'

/** A caller by the session of a member. */
type MemberCaller = Omit<Caller, 'requestId'> & { member: Member }

/** Returns who the token of a session belongs to; undefined where it is unknown or has ended. */
export type ReadMember = (token: string) => Promise<MemberCaller | undefined>

/** The prefix keeps the cookie to this host, to https and to the whole server: no other site can set or read it. */
const cookieName = '__Host-bezant'
const cookieTerms = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** The cookie that begins a session in a browser. It goes with the browser; the server ends the session by its own dates. */
export const sessionCookie = (token: string): string => `${cookieName}=${token}; ${cookieTerms}`

/** The cookie that takes the one of a session away. */
export const endedCookie = `${cookieName}=; ${cookieTerms}; Max-Age=0`

/** The 32 random bytes, in base64url, of the cookie of this name. */
export const secretInCookie = ({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined =>
  new RegExp(`(?:^|; ?)${name}=([\\w-]{43})(?:;|$)`).exec(cookie)?.[1]

/** The token of a session in the cookies of a request. */
export const sessionTokenIn = (headers: IncomingHttpHeaders): string | undefined =>
  secretInCookie(headers, cookieName)

type AskedRequest = { method: string; headers: IncomingHttpHeaders }
type AskedOperation = { auth?: string | undefined; isChanging?: boolean | undefined }

/**
 * Admits a request by the session in its cookie. A browser sends the cookie whatever page asks, so that all but the reading of
 * the session itself needs a header that pages of other sites can neither know nor send.
 */
export async function admitMember(
  readMember: ReadMember,
  token: string,
  { method, headers }: AskedRequest,
  operation: AskedOperation,
): Promise<KeyHolder> {
  const caller = await readMember(token)
  if (!caller) throw new ApiError('unauthorized', signedOut)
  const readsSession = operation.auth === 'member' && method === 'GET'
  if (!readsSession) requireOwnPage(headers, caller.member)
  if (operation.isChanging && operation.auth !== 'member') requireChanges(caller)
  return { ...caller, scopes: scopesOfRole[caller.member.role] }
}

export const signedOut = 'You are not signed in, or your session has ended: sign in at /console.'

function requireOwnPage(headers: IncomingHttpHeaders, { csrfToken }: Member): void {
  if (isSameText(String(headers['x-bezant-console'] ?? ''), csrfToken) && isOwnOrigin(headers)) return
  throw new ApiError(
    'forbidden',
    'Forbidden: a session is for the pages of this server alone. Send the csrfToken of GET /operator/session as X-Bezant-Console, or use an API key.',
  )
}

/** Browsers name the origin of a page that asks; programs name none. */
function isOwnOrigin({ origin, host }: IncomingHttpHeaders): boolean {
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

function requireChanges({ entity, member }: MemberCaller): void {
  if (member.role === 'viewer')
    throw new ApiError(
      'forbidden',
      `Forbidden: ${member.name} is a viewer here, and viewers change nothing. bezant members grant gives another role.`,
    )
  if (entity.environment === 'LIVE' && !member.hasCode)
    throw new ApiError(
      'forbidden',
      `Forbidden: changes of a LIVE entity need a session with a one-time code. Run bezant members enrol ${member.name}, and sign in again.`,
    )
}

import { badParams } from '#api/json-rpc/method'
import { ApiError } from '#lib/errors'
import { isLoopback, parseOrigin } from '#lib/web-origin'
import type { Config } from '#runtime/config'

/** Refuses passkeys where no page may use them, before a user is asked for one. */
export function requirePasskeys({ passkeyOrigins }: Config): void {
  if (passkeyOrigins.length === 0) throw new ApiError('rpcPasskeysOff')
}

/** The relying party of a page: its host. The origin is as the browser reports it, and signed by the authenticator. */
export function relyingPartyOf({ passkeyOrigins }: Config, origin: string): string {
  const url = parseOrigin(origin)
  const isListed = (name: string) => passkeyOrigins.includes(name)
  if (url && (isListed(origin) || (isLoopback(url) && isListed('loopback')))) return url.hostname
  throw badParams(
    `params[0].response.clientDataJSON has the origin ${JSON.stringify(origin.slice(0, 200))}, which is not in BEZANT_PASSKEY_ORIGINS of this server`,
  )
}

import { badParams } from '#api/json-rpc/method'
import { ApiError } from '#lib/errors'
import type { Config } from '#runtime/config'

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** Refuses passkeys where no page may use them, before a user is asked for one. */
export function requirePasskeys({ passkeyOrigins }: Config): void {
  if (passkeyOrigins.length === 0) throw new ApiError('rpcPasskeysOff')
}

/** The relying party of a page: its host. The origin is as the browser reports it, and signed by the authenticator. */
export function relyingPartyOf({ passkeyOrigins }: Config, origin: string): string {
  const { hostname, protocol } = URL.canParse(origin) ? new URL(origin) : { hostname: '', protocol: '' }
  const isLoopback = /^https?:$/.test(protocol) && loopbackHosts.includes(hostname)
  const isAllowed = passkeyOrigins.includes(origin) || (isLoopback && passkeyOrigins.includes('loopback'))
  if (isAllowed && new URL(origin).origin === origin) return hostname
  throw badParams(
    `params[0].response.clientDataJSON has the origin ${JSON.stringify(origin.slice(0, 200))}, which is not in BEZANT_PASSKEY_ORIGINS of this server`,
  )
}

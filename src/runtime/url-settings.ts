import { parseOrigin } from '#lib/web-origin'
import { parseTarget, TargetRefused } from './outbound/target.ts'
import type { Setting } from './settings.ts'

/** Parses `BEZANT_PUBLIC_URL`. */
export function publicUrlOf(text: string | undefined): string | undefined {
  const url = text?.replace(/\/+$/, '') || undefined
  if (url === undefined || (/^https?:\/\//.test(url) && URL.canParse(url))) return url
  throw new Error('BEZANT_PUBLIC_URL must be an address such as https://payments.example')
}

/** Parses `BEZANT_CHALLENGE_URL`. Clients compare it with the origin of messages, so it has nothing behind the port. */
export function challengeUrlOf(text: string | undefined): string | undefined {
  const url = text || undefined
  if (url === undefined || parseOrigin(url)) return url
  throw new Error(`BEZANT_CHALLENGE_URL must be an origin such as https://pin.example, not "${url}"`)
}

/** Parses `BEZANT_SMTP_URL`. The message does not contain the text, which may hold a password. */
export function smtpUrlOf(text: string | undefined): string | undefined {
  const url = text || undefined
  if (url === undefined || (/^smtps?:\/\/[^/]/.test(url) && URL.canParse(url))) return url
  throw new Error('BEZANT_SMTP_URL must be an address such as smtps://user:password@mail.example')
}

/** Parses the base URL of a server that the operator chose, without a trailing slash; the message does not contain it either. */
export function trustedUrlOf(
  environment: { [name in Setting]?: string | undefined },
  name: Setting,
): string | undefined {
  const text = environment[name]?.replace(/\/+$/, '') || undefined
  if (text === undefined) return undefined
  try {
    const { search, hash } = parseTarget(text)
    if (search !== '' || hash !== '') throw new TargetRefused('must not contain a query')
    return text
  } catch (error) {
    throw new Error(`${name} ${(error as Error).message}`)
  }
}

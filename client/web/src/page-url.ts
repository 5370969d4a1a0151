declare const process: { env: Record<string, string | undefined> }
declare global {
  /** The origin of the page of users, for an app that cannot pass it to the constructor. */
  var bezantChallengeUrl: string | undefined
}

/** The address that the app or its build sets, where no option does. */
export function defaultPageUrl(): string {
  return globalThis.bezantChallengeUrl || builtIn() || ''
}

/** Bundlers replace the whole expression, so it stands here as they look for it; without one there is no `process`. */
function builtIn(): string | undefined {
  try {
    return process.env.NEXT_PUBLIC_BEZANT_CHALLENGE_URL
  } catch {
    return undefined
  }
}

/** The origin of the page of users. Messages are exchanged with it alone. */
export function pageOriginOf(text: string): string {
  if (text === '')
    throw new TypeError(
      'The address of the page of users is missing: set serviceUrl in the configs, globalThis.bezantChallengeUrl, or NEXT_PUBLIC_BEZANT_CHALLENGE_URL when the app is built',
    )
  const url = new URL(text)
  if (url.protocol.startsWith('http') && url.pathname === '/' && url.search === '' && url.hash === '')
    return url.origin
  throw new TypeError(
    `The address of the page of users must be an origin such as https://pages.example, not ${text}`,
  )
}

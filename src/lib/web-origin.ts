/** The hosts of this machine, as the origins of its pages name them. */
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** Letters, digits, hyphens and dots, or IPv6: a host may hold characters that separate the parts of a header. */
const hostPattern = /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/

/** Parses an origin of the web as browsers write it: no path, no default port, no upper case. */
export function parseOrigin(text: string): URL | undefined {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.origin === text && hostPattern.test(url.hostname) ? url : undefined
}

export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean => loopbackHosts.includes(hostname)

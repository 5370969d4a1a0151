/** The folder of the console's pages on every server. */
export const base = '/console'

/** The address of a page of the console; what begins with a protocol or `/docs` leads out of it. */
export const linkTo = (path: string): string =>
  /^(https?:|\/docs|\/openapi)/.test(path) ? path : base + path

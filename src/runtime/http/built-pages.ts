import { fileURLToPath } from 'node:url'
import type { FastifyReply } from 'fastify'

/** The pages that `npm run build:console` builds: the console, and the frame of the documents. */
export const builtFolder = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

/** The documents, as the repository and the package have them. Bundles find files by this depth of folders alone. */
export const documentFolder = fileURLToPath(new URL('../../../docs/', import.meta.url))

/**
 * The pages load from and call this server only, and no text becomes markup or a script unless a policy of Trusted Types that is
 * named here made it.
 */
const policyOf = (trustedTypes: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes}`,
  ].join('; ')

/** Returns a function that adds the headers of these pages to a response. */
export function securePages(trustedTypes: string): (reply: FastifyReply) => FastifyReply {
  const policy = policyOf(trustedTypes)
  return (reply) =>
    reply
      .header('Content-Security-Policy', policy)
      .header('Referrer-Policy', 'no-referrer')
      .header('Cross-Origin-Opener-Policy', 'same-origin')
}

/** Answers for pages that are not built. */
export const sendUnbuilt = (reply: FastifyReply, pages: string) =>
  reply
    .code(503)
    .header('Cache-Control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Bezant</title>
<h1>${pages} are not built</h1>
<p>Run <code>npm run build:console</code> and load this page again. The API works without them: see its
<a href="/docs/reference">reference</a>.</p>
</html>
`)

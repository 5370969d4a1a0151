import type { FastifyInstance, FastifyReply } from 'fastify'
import { secretInCookie, sessionCookie } from './member-session.ts'

/** The end of a step of a sign-in with a provider: the token of a session, or why there is none. */
export type SignInOutcome = { token: string } | { refused: 'away' | 'unproven' | 'unknown' }

/** The sign-in of members with a provider of OpenID Connect, in the two steps that a browser makes. */
export type ProviderSignIn = {
  begin(): Promise<{ url: string; kept: string } | SignInOutcome>
  finish(kept: string, answer: { code: string; state: string }): Promise<SignInOutcome>
}

/** The secret of one sign-in. The browser comes back from another site, with which it sends no cookie that is strict. */
const keptCookie = '__Host-bezant-sign-in'
const keptTerms = 'Path=/; Secure; HttpOnly; SameSite=Lax'
const keptSeconds = 600

/** Serves the steps at which a browser leaves for the provider and comes back: each answers by sending it on. */
export function registerProviderSignIn(server: FastifyInstance, signIn: ProviderSignIn): void {
  const backWith = (reply: FastifyReply, refused: string) =>
    reply.redirect(`/console?refused=${refused}`, 303)
  server.get('/console/sign-in', async (_, reply) => {
    const begun = await signIn.begin()
    reply.header('Cache-Control', 'no-store').header('Referrer-Policy', 'no-referrer')
    if (!('url' in begun)) return backWith(reply, 'refused' in begun ? begun.refused : 'unproven')
    reply.header('Set-Cookie', `${keptCookie}=${begun.kept}; ${keptTerms}; Max-Age=${keptSeconds}`)
    return reply.redirect(begun.url, 302)
  })
  server.get<{ Querystring: Record<string, unknown> }>('/console/signed-in', async (request, reply) => {
    const { code, state } = request.query
    const kept = secretInCookie(request.headers, keptCookie)
    const ended = `${keptCookie}=; ${keptTerms}; Max-Age=0`
    reply
      .header('Cache-Control', 'no-store')
      .header('Referrer-Policy', 'no-referrer')
      .header('Set-Cookie', ended)
    if (kept === undefined || typeof code !== 'string' || typeof state !== 'string' || code.length > 4_096)
      return backWith(reply, 'unproven')
    const outcome = await signIn.finish(kept, { code, state })
    if ('refused' in outcome) return backWith(reply, outcome.refused)
    reply.header('Set-Cookie', [ended, sessionCookie(outcome.token)])
    return reply.redirect('/console', 303)
  })
}

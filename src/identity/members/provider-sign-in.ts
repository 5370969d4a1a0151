import { randomBytes } from 'node:crypto'
import { systemClock } from '#lib/time'
import type { ProviderSignIn, SignInOutcome } from '#runtime/http/provider-sign-in'
import type { Scope } from '#runtime/scope'
import { ProviderAway } from '#runtime/social/ask-json'
import { openCodeFlow, type ProvenPerson, SignInUnproven } from '#runtime/social/code-flow'
import { beginMemberSession } from './sessions.ts'
import { findMember, rolesOf } from './store.ts'

/** Ways of proving oneself (RFC 8176) that count as a second factor, such as a one-time code or a hardware key. */
const strongMethods = ['mfa', 'otp', 'hwk', 'swk', 'fpt', 'face']

/** The sign-in with the provider of the settings: undefined without one. A member is found by their verified address. */
export function openProviderSignIn(scope: Scope): ProviderSignIn | undefined {
  const { config, database, clock, log } = scope
  if (!config.signInProvider) return undefined
  const flow = openCodeFlow(config.signInProvider, systemClock)
  const redirectUri = () => `${config.publicUrl}/console/signed-in`
  const tell = (error: unknown): SignInOutcome => {
    if (!(error instanceof SignInUnproven || error instanceof ProviderAway)) throw error
    log.warn({ err: error }, 'a sign-in with the provider failed')
    return { refused: error instanceof ProviderAway ? 'away' : 'unproven' }
  }
  return {
    async begin() {
      const kept = randomBytes(32).toString('base64url')
      return flow.begin(kept, redirectUri()).then((url) => ({ url, kept }), tell)
    },
    async finish(kept, answer) {
      return flow.finish(kept, redirectUri(), answer).then(signIn, tell)
    },
  }

  async function signIn({ email, methods }: ProvenPerson): Promise<SignInOutcome> {
    const member = email === undefined ? undefined : await findMember(database, email)
    if (!member || member.disabledDate !== null) return { refused: 'unknown' }
    const [role] = await rolesOf(database, member.id)
    if (!role) return { refused: 'unknown' }
    const { entityId } = role
    const hasCode = methods.some((method) => strongMethods.includes(method))
    const session = { entityId, memberId: member.id, hasCode }
    return { token: await database.tx((db) => beginMemberSession({ db, clock }, session)) }
  }
}

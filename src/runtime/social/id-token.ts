import { createHash } from 'node:crypto'
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { SocialIdentity, SocialProvider } from './types.ts'

/** Maximum age in seconds of a token that logs in, and the tolerated difference between clocks. */
const ageMaxSeconds = 3_600
const skewSeconds = 30

/**
 * The identity in an ID token that the issuer signed for an app of the entity. Throws errors of JOSE: JWTExpired only for a token
 * that is valid otherwise.
 */
export async function readIdToken(
  { issuer, clientIds }: Pick<SocialProvider, 'issuer' | 'clientIds'>,
  text: string,
  keys: JWTVerifyGetKey,
  nowMs: number,
): Promise<SocialIdentity> {
  const { payload, protectedHeader } = await jwtVerify(text, keys, {
    algorithms: ['RS256', 'ES256'],
    issuer: namesOf(issuer),
    audience: clientIds,
    requiredClaims: ['sub', 'exp'],
    maxTokenAge: ageMaxSeconds,
    clockTolerance: skewSeconds,
    currentDate: new Date(nowMs),
  })
  const { sub = '', iat, exp } = payload
  if (protectedHeader.typ !== undefined && !/^jwt$/i.test(protectedHeader.typ))
    throw new errors.JWTInvalid('a token of another kind')
  if (sub === '' || sub.length > 255) throw new errors.JWTInvalid('sub has no length from 1 to 255')
  if (!isForOnly(clientIds, payload)) throw new errors.JWTInvalid('a token of other apps too')
  return {
    issuer,
    subject: sub,
    ...shownOf(payload),
    used: {
      sha256: createHash('sha256')
        .update(text.slice(0, text.lastIndexOf('.')))
        .digest(),
      expireMs: (Math.min(exp!, iat! + ageMaxSeconds) + skewSeconds) * 1_000,
    },
  }
}

/** Google's tokens name their issuer with or without `https://`. */
const namesOf = (issuer: string) =>
  issuer === 'https://accounts.google.com' ? [issuer, 'accounts.google.com'] : [issuer]

/** Whether every audience, and the app that asked for the token, belong to the entity. */
function isForOnly(clientIds: readonly string[], { aud, azp }: JWTPayload): boolean {
  const parties = [aud, azp].flat().filter((party) => party !== undefined)
  return parties.every((party) => clientIds.includes(party as string))
}

/** The claims about the person. An address or a number counts when the provider has verified it. */
function shownOf(payload: JWTPayload): Pick<SocialIdentity, 'email' | 'name' | 'phone'> {
  const text = (name: string) => {
    const value = payload[name]
    return typeof value === 'string' && value !== '' && value.length <= 254 ? value : undefined
  }
  const verified = (name: string) =>
    ['true', true].includes(payload[`${name}_verified`] as string) ? text(name) : undefined
  return { email: verified('email'), name: text('name'), phone: verified('phone_number') }
}

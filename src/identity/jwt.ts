import { randomBytes } from 'node:crypto'
import { decodeJwt, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { type SealContext, seal } from '#custody/sealing/index'
import { isUuid } from '#lib/ids'
import type { IdentityCtx } from './identity.ts'
import type { SigningKey } from './token-keys.ts'

/** The type in the header, so that no token passes for one of another kind. */
type TokenType = 'JWT' | 'device+jwt' | 'otp+jwt'

/** The claims of every token: its id, its life from now on, and its entity. */
export function claimsOf(
  { entity, clock }: Pick<IdentityCtx, 'entity' | 'clock'>,
  id: string,
  lifeMs: number,
) {
  const iat = Math.floor(clock.nowMs() / 1_000)
  const exp = iat + lifeMs / 1_000
  return { jti: id, iat, exp, developerEntityEnvironment: entity.environment, entityId: entity.id }
}

/** Makes the 32 bytes that belong to a token: sealed, and as base64 for its holder. */
export function makeTokenSecret({ custody }: Pick<IdentityCtx, 'custody'>, context: SealContext) {
  const key = randomBytes(32)
  const sealed = seal(custody.vault.root, context, key)
  const shown = key.toString('base64')
  key.fill(0)
  return { sealed, shown }
}

export const signToken = (claims: JWTPayload, { id, key }: SigningKey, typ: TokenType): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: id, typ }).sign(key)

/** The claims of a token of this type. Throws errors of JOSE: JWTExpired only for one that is valid otherwise. */
export async function readClaims(
  { identity, clock }: Pick<IdentityCtx, 'identity' | 'clock'>,
  text: string,
  typ: TokenType,
): Promise<JWTPayload> {
  const { payload } = await jwtVerify(
    text,
    async ({ kid }) => {
      const key = isUuid(kid) ? await identity.tokenKeys.publicKey(kid) : undefined
      if (!key) throw new errors.JWKSNoMatchingKey()
      return key
    },
    { algorithms: ['RS256'], typ, currentDate: new Date(clock.nowMs()), requiredClaims: ['exp', 'jti'] },
  )
  return payload
}

/** The id of a token that this server has just made. */
export const tokenIdOf = (text: string): string => String(decodeJwt(text).jti)

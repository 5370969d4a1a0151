import { randomBytes } from 'node:crypto'
import { badParams } from '#api/json-rpc/method'
import type { Ctx } from '#engines/ctx'
import { countRows } from '../limit-rows.ts'
import { relyingPartyOf } from './origin.ts'
import { type Challenge, insertPasskeyChallenge, takeChallenge } from './store.ts'

/** How long the user has; the browser gets the same limit. */
export const lifetimeMs = 300_000

/** Gives out a challenge, for the registration of a user or for a login. */
export async function giveChallenge(
  ctx: Ctx,
  user?: { userHandle: Buffer; username: string },
): Promise<string> {
  countRows(ctx)
  const challenge = randomBytes(32)
  const nowMs = ctx.clock.nowMs()
  const { userHandle = null, username = null } = user ?? {}
  await ctx.database.tx((tx) =>
    insertPasskeyChallenge(tx, ctx.entity.id, challenge, { userHandle, username }, { nowMs, lifetimeMs }),
  )
  return challenge.toString('base64url')
}

export type Ceremony = Challenge & { challenge: string; origin: string; rpId: string }

const refuse = (reason: string) => badParams(`params[0].response.clientDataJSON ${reason}`)

/**
 * Checks what the browser signed with the answer, and takes its challenge. The challenge is gone whatever follows, so that
 * an answer cannot be tried again with other contents.
 */
export async function takeCeremony(
  ctx: Ctx,
  clientDataJSON: string,
  type: 'webauthn.create' | 'webauthn.get',
): Promise<Ceremony> {
  const client = parse(clientDataJSON)
  const { challenge, origin } = client
  if (client.type !== type) throw refuse(`has the type ${JSON.stringify(client.type)}: it must be ${type}`)
  if (typeof origin !== 'string') throw refuse('has no origin')
  if (client.crossOrigin === true || client.topOrigin !== undefined)
    throw refuse('comes from a frame in a page of another origin, which is not allowed')
  const rpId = relyingPartyOf(ctx.config, origin)
  const bytes = Buffer.from(typeof challenge === 'string' ? challenge : '', 'base64url')
  const taken = await takeChallenge(ctx.database, ctx.entity.id, bytes, ctx.clock.nowMs())
  const isRegistration = type === 'webauthn.create'
  if (!taken || (taken.userHandle !== null) !== isRegistration)
    throw refuse(
      `has a challenge that is unknown, used or expired: call ${isRegistration ? 'rp_getRegistrationOptions' : 'rp_getLoginOptions'} again`,
    )
  return { ...taken, challenge: bytes.toString('base64url'), origin, rpId }
}

type ClientData = {
  type?: unknown
  challenge?: unknown
  origin?: unknown
  crossOrigin?: unknown
  topOrigin?: unknown
}

function parse(clientDataJSON: string): ClientData {
  try {
    const client: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'))
    if (typeof client === 'object' && client !== null) return client
  } catch {}
  throw refuse('is not the base64url form of a JSON object')
}

/** The library's reason for a refusal, shortened: it may quote what the caller sent. */
export const unverified = (what: string) => (error: unknown) => {
  throw badParams(`params[0] is not a valid ${what}: ${(error as Error).message.slice(0, 200)}`)
}

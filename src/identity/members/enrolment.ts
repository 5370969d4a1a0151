import { randomBytes } from 'node:crypto'
import { RootKeyRetired, SealBroken, seal, unseal } from '#custody/sealing/index'
import { invalid } from '#lib/errors'
import { systemClock } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { pendingCodeKey } from '../contexts.ts'
import type { IdentityCtx } from '../identity.ts'
import { type MemberScope, saveCodeKey } from './members.ts'
import { base32, codeKeyBytes, codeKeyUri, stepOfCode } from './one-time-code.ts'
import { checkSignIn } from './sign-in.ts'
import { useCodeStep } from './store.ts'

/** The member of a session, in which a new key of one-time codes is made and confirmed. */
type Enrolling = { id: string; name: string; sessionId: string }

/** Time in which a key has to be confirmed. */
const pendingMs = 10 * 60_000
const dateBytes = 8

/** The key of an authenticator that is not confirmed yet: as text, as an address, and sealed for this session. */
type PendingCodes = { secret: string; uri: string; pending: string }

/**
 * Makes a key of one-time codes that counts once it is confirmed. A session alone does not suffice, since its cookie may be stolen:
 * the password is asked for again and, of a member who has codes, the present one. Wrong tries of all sessions count together. Runs
 * outside a `tx`, so that they stay counted.
 */
export async function beginEnrolment(
  ctx: IdentityCtx,
  { id, name, sessionId }: Enrolling,
  { password, code }: { password: string; code?: string | undefined },
): Promise<PendingCodes> {
  await checkSignIn(ctx, { name, password, code, address: `codes of ${id}` })
  const key = randomBytes(codeKeyBytes)
  const expiry = Buffer.alloc(dateBytes)
  expiry.writeBigUInt64BE(BigInt(systemClock.nowMs() + pendingMs))
  const plain = Buffer.concat([expiry, key])
  const sealed = seal(ctx.custody.vault.root, pendingCodeKey(id, sessionId), plain)
  const shown = { secret: base32(key), uri: codeKeyUri(name, key), pending: sealed.toString('base64url') }
  for (const each of [plain, key]) each.fill(0)
  return shown
}

/** Takes a key into use that the same session has made, by the first of its codes, and ends all sessions of the member. */
export async function confirmEnrolment(
  ctx: MemberScope & Pick<IdentityCtx, 'custody'> & { db: Db },
  { id, name, sessionId }: Enrolling,
  { pending, code }: { pending: string; code: string },
): Promise<void> {
  const nowMs = systemClock.nowMs()
  const plain = openPending(ctx, pendingCodeKey(id, sessionId), pending)
  const key = plain?.subarray(dateBytes)
  if (!key || plain!.readBigUInt64BE() < BigInt(nowMs))
    throw invalid({
      at: 'pending',
      reason: 'was not made in this session within the last 10 minutes: begin again',
    })
  const step = stepOfCode(key, code, nowMs)
  if (step === undefined)
    throw invalid({
      at: 'code',
      reason: 'is no present code of the new secret: send the six digits that the authenticator shows for it',
      kind: 'signInCodeWrong',
    })
  await saveCodeKey(ctx, { id, name }, key)
  await useCodeStep(ctx.db, id, step)
  plain!.fill(0)
}

function openPending(
  { custody }: Pick<IdentityCtx, 'custody'>,
  context: ReturnType<typeof pendingCodeKey>,
  pending: string,
): Buffer | undefined {
  try {
    return unseal(custody.vault.root, context, Buffer.from(pending, 'base64url'))
  } catch (error) {
    if (error instanceof SealBroken || error instanceof RootKeyRetired) return undefined
    throw error
  }
}

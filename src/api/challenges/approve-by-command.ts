import { createHash } from 'node:crypto'
import type { Ctx } from '#engines/ctx'
import { opensByLogin, readCommandApproval, sealText } from '#identity/command-logins/index'
import { withEncryptionKey } from '#identity/index'
import { type Purpose, sealSubmission } from '#identity/user-keys/index'
import { ApiError } from '#lib/errors'
import {
  approveChallenge,
  prepareApproval,
  purposeFor,
  requireChallenge,
  resultOf,
} from './approve-challenge.ts'
import { keyStateOf } from './key-kinds.ts'
import { showChallenge } from './show-challenge.ts'

type OneChallenge = { params: { id: string } }

/** Refuses users who have a secret of their own: it never passes through a tool's proxy. */
async function requireLoginUser(ctx: Ctx): Promise<void> {
  if (!(await opensByLogin(ctx, ctx.user!.userId))) throw new ApiError('approvesOnPage')
}

const sealFor = (ctx: Ctx, answer: object) =>
  withEncryptionKey(ctx, ctx.user!.tokenId, async (key) => ({
    encrypt: sealText(key, JSON.stringify(answer)),
  }))

/** The challenge and the public key to which the tool encrypts its approval. */
export async function showToCommand(ctx: Ctx, { params }: OneChallenge) {
  await requireLoginUser(ctx)
  const { id: challengeId, status } = showChallenge(await requireChallenge(ctx, params.id), ctx.clock.nowMs())
  const publicKey = await ctx.custody.transport.publicKey()
  return sealFor(ctx, { challengeId, publicKey, status })
}

type SealedRequest = OneChallenge & { body: { encrypt: string } }

/** Opens the user's key with what the tool sealed, which becomes a submission as a page makes them. */
export async function prepareCommandApproval(ctx: Ctx, { params, body }: SealedRequest) {
  await requireLoginUser(ctx)
  const row = await requireChallenge(ctx, params.id)
  if (row.status === 'COMPLETE') return undefined
  const purpose = purposeFor(ctx, row, await keyStateOf(ctx))
  const submission = await submissionOf(ctx, params.id, purpose, body.encrypt)
  // The bytes that were sent work once, for whatever challenge they come again.
  const sha256 = createHash('sha256').update(body.encrypt).digest()
  return prepareApproval(ctx, { params, body: { purpose, submission } }, sha256)
}

const submissionOf = (ctx: Ctx, challengeId: string, purpose: Purpose, sealed: string) =>
  withEncryptionKey(ctx, ctx.user!.tokenId, async (encryptionKey) => {
    const secret = await readCommandApproval(ctx, encryptionKey, sealed)
    try {
      const submission = { userId: ctx.user!.id, challengeId, encryptionKey }
      return sealSubmission(submission, purpose, [{ kind: 'D', bytes: secret }])
    } finally {
      secret.fill(0)
    }
  })

/** Carries the challenge out, and returns its result sealed: a signature, where it asked for one. */
export async function approveByCommand(
  ctx: Ctx,
  { params }: OneChallenge,
  opened: Awaited<ReturnType<typeof prepareApproval>>,
) {
  await approveChallenge(ctx, { params }, opened)
  const row = await requireChallenge(ctx, params.id)
  const { status } = showChallenge(row, ctx.clock.nowMs())
  return sealFor(ctx, { status, data: await resultOf(ctx, row) })
}

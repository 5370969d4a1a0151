import type { Ctx } from '#engines/ctx'
import type { SecretState } from '#identity/user-keys/index'
import { purposeFor, resultOf } from './approve-challenge.ts'
import { keyStateOf } from './key-kinds.ts'
import { showChallenge } from './show-challenge.ts'
import type { ChallengeRow } from './store.ts'

/** A challenge as its user sees it, with what the page needs to ask for. */
export async function showOnPage(ctx: Ctx, row: ChallengeRow) {
  const state = await keyStateOf(ctx)
  const challenge = showChallenge(row, ctx.clock.nowMs())
  const result = await resultOf(ctx, row)
  return {
    challenge,
    user: {
      id: ctx.user!.id,
      pinStatus: state.pin.status,
      ...lockOf('pinLockedUntil', state.pin),
      securityQuestionStatus: state.answers.status,
      ...lockOf('securityQuestionsLockedUntil', state.answers),
      questions: state.questions,
    },
    ...(challenge.status === 'PENDING' && { needs: purposeFor(ctx, row, state) }),
    summary: JSON.parse(row.summary),
    ...(result && { result }),
  }
}

const lockOf = (name: string, { status, lockedExpiryDate }: SecretState) =>
  status === 'LOCKED' && { [name]: lockedExpiryDate }

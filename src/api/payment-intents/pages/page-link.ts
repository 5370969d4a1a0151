import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { uuidIn } from '#lib/ids'
import { isSameText } from '#lib/same-text'

/**
 * The token in the link of a page: the ids of its entity and intent, and half of a token that only this installation can compute for
 * them, as base64url. It needs no row to be checked, and a guess no database.
 */
type PageIds = { entityId: string; paymentIntentId: string }

type TokenCtx = Pick<Ctx, 'custody'>

const idsBytes = 32
const proofBytes = 16

export const pageTokenPattern = '^[A-Za-z0-9_-]{64}$'

const bytesOf = ({ entityId, paymentIntentId }: PageIds) =>
  Buffer.from((entityId + paymentIntentId).replaceAll('-', ''), 'hex')

const purpose = 'payment page'
const proofIn = (token: string) => token.slice(0, 2 * proofBytes)

function pageTokenOf(ctx: TokenCtx, ids: PageIds): string {
  const bytes = bytesOf(ids)
  const proof = proofIn(ctx.custody.notary.tokenOf(purpose, bytes.toString('hex')))
  return Buffer.concat([bytes, Buffer.from(proof, 'hex')]).toString('base64url')
}

/** The address of a page, at the origin of the pages of this server. */
export function pageLinkOf(ctx: Pick<Ctx, 'custody' | 'config'>, ids: PageIds): string {
  const { challengeUrl } = ctx.config
  // The API listens a moment before the pages do.
  if (challengeUrl === undefined) throw new ApiError('unavailable')
  return `${challengeUrl}/pay/${pageTokenOf(ctx, ids)}`
}

/** The page that a token names, if this server made it. */
export function readPageToken(ctx: TokenCtx, token: string): PageIds | undefined {
  const bytes = Buffer.from(token, 'base64url')
  // Other texts decode to the same bytes: each would be a name of its own for the page.
  if (bytes.length !== idsBytes + proofBytes || bytes.toString('base64url') !== token) return undefined
  const ids = bytes.subarray(0, idsBytes)
  const proof = bytes.subarray(idsBytes).toString('hex')
  const right = ctx.custody.notary.tokensOf(purpose, ids.toString('hex')).map(proofIn)
  if (!right.some((each) => isSameText(proof, each))) return undefined
  const [entityId, paymentIntentId] = [0, 16].map((at) => uuidIn(ids.subarray(at, at + 16).toString('hex'))!)
  return { entityId: entityId!, paymentIntentId: paymentIntentId! }
}

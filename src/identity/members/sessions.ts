import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createLookup } from '#runtime/auth/lookup'
import { findEntity } from '#runtime/auth/store'
import type { Database, Db } from '#runtime/db/db'
import type { ReadMember } from '#runtime/http/member-session'
import { recordChanges } from '#runtime/record/store'
import { deleteMemberSession, findMemberSessions, insertMemberSession, touchMemberSession } from './store.ts'

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The token that pages of this server send beside the cookie, and pages of other sites cannot know. */
export const csrfTokenOf = (token: string): string =>
  createHmac('sha256', token).update('bezant console').digest('base64url')

type BegunSession = { entityId: string; memberId: string; hasCode: boolean; requestId?: string }

/** Begins a session and returns its token, which is in the cookie of a browser and nowhere else. */
export async function beginMemberSession(
  { db, clock }: { db: Db; clock: { nowMs(): number } },
  { entityId, memberId, hasCode, requestId }: BegunSession,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await insertMemberSession(db, { entityId, memberId, hasCode, tokenHash: hashToken(token) })
  await recordChanges(db, clock.nowMs(), [
    { entityId, actor: `member:${memberId}`, type: 'member.signedIn', resourceId: memberId, requestId },
  ])
  return token
}

export const endMemberSession = (tx: Db, entityId: string, id: string) =>
  deleteMemberSession(tx, entityId, Buffer.from(id, 'hex'))

/** Returns the reader of sessions: the member, role and entity of a token. Unknown tokens share one connection, however many. */
export function openMemberSessions(database: Database): ReadMember {
  const lookUp = createLookup((ids: readonly string[]) =>
    findMemberSessions(
      database.reading,
      ids.map((id) => Buffer.from(id, 'hex')),
    ),
  )
  return async (token) => {
    const tokenHash = hashToken(token)
    const found = await lookUp(tokenHash.toString('hex'), false)
    const entity = found && (await findEntity(database.reading, found.entityId))
    if (!found || !entity) return undefined
    const { id, memberId, name, role, hasCode } = found
    if (found.isStale) await touchMemberSession(database, found.entityId, tokenHash)
    return {
      entity: { id: entity.id, environment: entity.environment, appId: entity.appId },
      actor: `member:${memberId}`,
      member: { id: memberId, name, role, hasCode, sessionId: id, csrfToken: csrfTokenOf(token) },
    }
  }
}

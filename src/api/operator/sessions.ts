import type { Ctx } from '#engines/ctx'
import {
  beginMemberSession,
  confirmEnrolment,
  csrfTokenOf,
  endMemberSession,
  type MemberRow,
  rolesOf,
} from '#identity/members/index'
import { ApiError, invalid } from '#lib/errors'
import { findEntities } from '#runtime/auth/store'
import { answer } from '#runtime/http/endpoint'
import { endedCookie, sessionCookie } from '#runtime/http/member-session'
import { recordChanges } from '#runtime/record/store'
import type { Member } from '#runtime/scope'
import { version } from '#runtime/version'

type SignedIn = Pick<Member, 'id' | 'name' | 'hasCode' | 'csrfToken'>

/** The session as its page sees it. */
export async function showSession({ db, entity }: Pick<Ctx, 'db' | 'entity'>, member: SignedIn) {
  const entities = await entitiesOf(db, member.id)
  const chosen = entities.find(({ id }) => id === entity.id)
  if (!chosen) throw new ApiError('memberWithoutRole')
  const { role, ...shown } = chosen
  const { id, name, hasCode, csrfToken } = member
  return { member: { id, name, role }, entity: shown, entities, hasCode, csrfToken, version }
}

type Checked = { member: MemberRow; hasCode: boolean }

/** Begins the session of a member whose sign-in was right. */
export async function signIn(ctx: Ctx, { member, hasCode }: Checked, entityId: string | undefined) {
  const chosen = entityId ?? (await rolesOf(ctx.db, member.id))[0]?.entityId
  if (chosen === undefined) throw new ApiError('memberWithoutRole')
  const { session, cookie } = await begin(ctx, { ...member, hasCode }, chosen.toLowerCase())
  return answer(201, session, { 'set-cookie': cookie })
}

/** Ends the session and begins another one, so that no token ever changes what it opens. */
export async function chooseEntity(ctx: Ctx, member: Member, entityId: string) {
  await endMemberSession(ctx.db, ctx.entity.id, member.sessionId)
  const { session, cookie } = await begin(ctx, member, entityId.toLowerCase())
  return answer(200, session, { 'set-cookie': cookie })
}

export async function signOut(ctx: Ctx, member: Member) {
  await endMemberSession(ctx.db, ctx.entity.id, member.sessionId)
  const { id: entityId } = ctx.entity
  const change = { entityId, actor: ctx.actor, type: 'member.signedOut', resourceId: member.id }
  await recordChanges(ctx.db, ctx.clock.nowMs(), [{ ...change, requestId: ctx.requestId }])
  return answer(204, undefined, { 'set-cookie': endedCookie })
}

/** Takes new one-time codes into use, which ends this session with all others of the member. */
export async function confirmCodes(ctx: Ctx, member: Member, entered: { pending: string; code: string }) {
  await confirmEnrolment(ctx, member, entered)
  return answer(204, undefined, { 'set-cookie': endedCookie })
}

async function begin(ctx: Ctx, member: Pick<Member, 'id' | 'name' | 'hasCode'>, entityId: string) {
  const roles = await rolesOf(ctx.db, member.id)
  if (roles.every((role) => role.entityId !== entityId))
    throw invalid({
      at: 'entityId',
      reason: 'matches no entity in which you have a role',
      value: entityId,
      kind: 'memberWithoutRole',
    })
  const { id: memberId, hasCode } = member
  const { requestId } = ctx
  const token = await beginMemberSession(ctx, { entityId, memberId, hasCode, requestId })
  const signedIn = { ...member, csrfToken: csrfTokenOf(token) }
  const session = await showSession({ db: ctx.db, entity: { ...ctx.entity, id: entityId } }, signedIn)
  return { session, cookie: sessionCookie(token) }
}

/** The entities of a member with their roles, in the order in which they were granted. */
async function entitiesOf(db: Ctx['db'], memberId: string) {
  const roles = await rolesOf(db, memberId)
  const entities = await findEntities(
    db,
    roles.map(({ entityId }) => entityId),
  )
  return roles.flatMap(({ entityId, role }) => {
    const entity = entities.find(({ id }) => id === entityId)
    return entity ? [{ id: entity.id, name: entity.name, environment: entity.environment, role }] : []
  })
}

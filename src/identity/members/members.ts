import { randomBytes } from 'node:crypto'
import { seal } from '#custody/sealing/index'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { type Change, recordChanges } from '#runtime/record/store'
import type { MemberRole } from '#runtime/scope'
import { memberCodeKey } from '../contexts.ts'
import type { IdentityCtx } from '../identity.ts'
import { codeKeyBytes, codeKeyUri } from './one-time-code.ts'
import type { StoredPassword } from './password.ts'
import {
  deleteAllTries,
  deleteRole,
  deleteSessionsOf,
  insertMember,
  type MemberRow,
  rolesOf,
  updateCodeKey,
  updateDisabled,
  updatePassword,
  upsertRole,
} from './store.ts'

/** A `tx`, and who changes members in it. */
export type MemberScope = { db: Db; clock: { nowMs(): number }; actor: string; requestId?: string }

type NamedMember = Pick<MemberRow, 'id' | 'name'>

/** Adds a member. Undefined if the name is taken. */
export async function addMember(
  scope: MemberScope,
  { name, password }: { name: string; password: StoredPassword },
): Promise<NamedMember | undefined> {
  const member = { id: newId(scope.clock.nowMs()), name: name.toLowerCase() }
  return (await insertMember(scope.db, { ...member, ...password })) ? member : undefined
}

/** Gives a member a role in an entity, in place of the one that they have there. */
export async function grantRole(
  scope: MemberScope,
  { id, name }: NamedMember,
  entityId: string,
  role: MemberRole,
) {
  await upsertRole(scope.db, entityId, id, role)
  await record(scope, [{ entityId, type: 'member.granted', resourceId: id, data: { name, role } }])
}

/** Takes a role away, which ends the sessions in the entity. False if there was none. */
export async function revokeRole(
  scope: MemberScope,
  { id, name }: NamedMember,
  entityId: string,
): Promise<boolean> {
  if (!(await deleteRole(scope.db, entityId, id))) return false
  await record(scope, [{ entityId, type: 'member.revoked', resourceId: id, data: { name } }])
  return true
}

/** Sets another password, and ends all sessions of the member. */
export async function setPassword(scope: MemberScope, { id, name }: NamedMember, password: StoredPassword) {
  await updatePassword(scope.db, id, password)
  await endSessions(scope, { id, name }, 'member.passwordSet')
}

/** Makes a new key of one-time codes, ends all sessions, and returns the address that an authenticator takes it from. */
export async function makeCodeKey(
  scope: MemberScope & Pick<IdentityCtx, 'custody'>,
  { id, name }: NamedMember,
): Promise<string> {
  const key = randomBytes(codeKeyBytes)
  await saveCodeKey(scope, { id, name }, key)
  const uri = codeKeyUri(name, key)
  key.fill(0)
  return uri
}

/** Takes a key of one-time codes into use, and ends all sessions. */
export async function saveCodeKey(
  scope: MemberScope & Pick<IdentityCtx, 'custody'>,
  member: NamedMember,
  key: Buffer,
): Promise<void> {
  await updateCodeKey(scope.db, member.id, seal(scope.custody.vault.root, memberCodeKey(member.id), key))
  await endSessions(scope, member, 'member.codesEnrolled')
}

/** Removes the key of one-time codes, of a member who lost it, and ends all sessions. */
export async function removeCodeKey(scope: MemberScope, member: NamedMember) {
  await updateCodeKey(scope.db, member.id, null)
  await endSessions(scope, member, 'member.codesRemoved')
}

/** Lets a member sign in or not; either way, all sessions end. */
export async function setMemberDisabled(scope: MemberScope, member: NamedMember, isDisabled: boolean) {
  await updateDisabled(scope.db, member.id, isDisabled)
  await endSessions(scope, member, isDisabled ? 'member.disabled' : 'member.enabled')
}

/** Ends the sessions and the pauses of a member, and records the change in each of their entities. */
async function endSessions(scope: MemberScope, { id, name }: NamedMember, type: string) {
  await deleteSessionsOf(scope.db, id)
  await deleteAllTries(scope.db, id)
  const roles = await rolesOf(scope.db, id)
  await record(
    scope,
    roles.map(({ entityId }) => ({ entityId, type, resourceId: id, data: { name } })),
  )
}

const record = ({ db, clock, actor, requestId }: MemberScope, changes: Omit<Change, 'actor'>[]) =>
  recordChanges(
    db,
    clock.nowMs(),
    changes.map((change) => ({ ...change, actor, requestId })),
  )

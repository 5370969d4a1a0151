import { type Db, sql } from '#runtime/db/db'
import type { MemberRole } from '#runtime/scope'
import type { StoredPassword } from './password.ts'

/** A person who may sign in to the console. Names are unique in an installation, in small letters. */
export type MemberRow = StoredPassword & {
  id: string
  name: string
  /** The sealed key of one-time codes; null of a member without one. */
  codeKey: Buffer | null
  createDate: string
  disabledDate: string | null
}

export const findMember = (db: Db, name: string) =>
  db.maybe<MemberRow>(sql`select id, name, password_salt, password_hash, password_cost, code_key, create_date, disabled_date
    from members where name = ${name.toLowerCase()}`)

/** Adds a member. False if the name is taken. */
export const insertMember = async (tx: Db, member: { id: string; name: string } & StoredPassword) =>
  (await tx.run(sql`insert into members (id, name, password_salt, password_hash, password_cost)
    values (${member.id}, ${member.name}, ${member.passwordSalt}, ${member.passwordHash}, ${member.passwordCost})
    on conflict (name) do nothing`)) === 1

export const updatePassword = (tx: Db, id: string, password: StoredPassword) =>
  tx.run(sql`update members set password_salt = ${password.passwordSalt}, password_hash = ${password.passwordHash},
      password_cost = ${password.passwordCost} where id = ${id}`)

export const updateCodeKey = (tx: Db, id: string, codeKey: Buffer | null) =>
  tx.run(sql`update members set code_key = ${codeKey}, code_step = 0 where id = ${id}`)

/** Uses up the code of a period. False if it, or a later one, was used before. */
export const useCodeStep = async (db: Db, id: string, step: number): Promise<boolean> =>
  (await db.run(sql`update members set code_step = ${step} where id = ${id} and code_step < ${step}`)) === 1

export const updateDisabled = (tx: Db, id: string, isDisabled: boolean) =>
  tx.run(
    isDisabled
      ? sql`update members set disabled_date = now() where id = ${id} and disabled_date is null`
      : sql`update members set disabled_date = null where id = ${id}`,
  )

export const upsertRole = (tx: Db, entityId: string, memberId: string, role: MemberRole) =>
  tx.run(sql`insert into member_roles (entity_id, member_id, role) values (${entityId}, ${memberId}, ${role})
    on conflict (entity_id, member_id) do update set role = excluded.role`)

/** Takes the role of a member away, and with it their sessions in the entity. False if they had none. */
export const deleteRole = async (tx: Db, entityId: string, memberId: string): Promise<boolean> =>
  (await tx.run(sql`delete from member_roles where entity_id = ${entityId} and member_id = ${memberId}`)) ===
  1

/** The entities of a member, in the order in which they were granted. */
export const rolesOf = (db: Db, memberId: string) =>
  db.all<{ entityId: string; role: MemberRole }>(
    sql`select entity_id, role from member_roles where member_id = ${memberId} order by create_date, entity_id`,
  )

type ListedMember = {
  id: string
  name: string
  entityId: string
  role: MemberRole
  hasCodes: boolean
  createDate: string
  disabledDate: string | null
}

/** All members with their roles, or those of one entity. */
export const listMembers = (db: Db, entityId: string | undefined) =>
  db.all<ListedMember>(sql`select m.id, m.name, r.entity_id, r.role, m.code_key is not null as has_codes, m.create_date,
      m.disabled_date
    from members m join member_roles r on r.member_id = m.id
    where ${entityId ?? null}::uuid is null or r.entity_id = ${entityId ?? null}
    order by m.name, r.entity_id`)

/** A session ends after this time without a request, and after this time in all. */
const isAlive = sql`s.used_date > now() - interval '12 hours' and s.create_date > now() - interval '7 days'`

type NewSession = { entityId: string; memberId: string; tokenHash: Buffer; hasCode: boolean }

export async function insertMemberSession(tx: Db, session: NewSession): Promise<void> {
  await tx.run(
    sql`delete from member_sessions s where s.member_id = ${session.memberId} and not (${isAlive})`,
  )
  await tx.run(sql`insert into member_sessions (entity_id, token_hash, member_id, has_code)
    values (${session.entityId}, ${session.tokenHash}, ${session.memberId}, ${session.hasCode})`)
}

type MemberSession = {
  /** The hash of the token, in hexadecimal digits. */
  id: string
  entityId: string
  memberId: string
  name: string
  role: MemberRole
  hasCode: boolean
  /** Whether the date of its last use is a minute old. */
  isStale: boolean
}

/** The living sessions of these tokens, of members who are not disabled. */
export const findMemberSessions = (db: Db, tokenHashes: readonly Buffer[]) =>
  db.all<MemberSession>(sql`select encode(s.token_hash, 'hex') as id, s.entity_id, s.member_id, m.name, r.role, s.has_code,
      s.used_date < now() - interval '1 minute' as is_stale
    from member_sessions s join members m on m.id = s.member_id and m.disabled_date is null
    join member_roles r on r.entity_id = s.entity_id and r.member_id = s.member_id
    where s.token_hash = any(${tokenHashes}::bytea[]) and ${isAlive}`)

export const touchMemberSession = (db: Db, entityId: string, tokenHash: Buffer) =>
  db.run(sql`update member_sessions set used_date = now()
    where entity_id = ${entityId} and token_hash = ${tokenHash}`)

export const deleteMemberSession = (tx: Db, entityId: string, tokenHash: Buffer) =>
  tx.run(sql`delete from member_sessions where entity_id = ${entityId} and token_hash = ${tokenHash}`)

export const deleteSessionsOf = (tx: Db, memberId: string) =>
  tx.run(sql`delete from member_sessions where member_id = ${memberId}`)

/** How long a member waits after this many tries in a row: nothing for five, then from 15 seconds to 16 minutes. */
const pause = sql`case when t.tries < 5 then interval '0' else interval '15 seconds' * power(2, least(t.tries - 5, 6)) end`

/** The last try and this one as times in UTC: sums with an interval then depend on no setting of a session. */
const [before, now] = [sql`t.update_date at time zone 'UTC'`, sql`excluded.update_date at time zone 'UTC'`]

/** Counts a try before it is compared. False while the member has to wait: such a try counts for nothing. */
export const countMemberTry = async (db: Db, memberId: string, addressGroup: number): Promise<boolean> =>
  (await db.run(sql`insert into member_tries as t (member_id, address_group, tries, update_date)
    values (${memberId}, ${addressGroup}, 1, now())
    on conflict (member_id, address_group) do update
      set tries = case when ${before} < ${now} - interval '1 day' then 1 else t.tries + 1 end, update_date = excluded.update_date
      where ${before} + ${pause} <= ${now}`)) === 1

export const deleteMemberTries = (db: Db, memberId: string, addressGroup: number) =>
  db.run(sql`delete from member_tries where member_id = ${memberId} and address_group = ${addressGroup}`)

export const deleteAllTries = (tx: Db, memberId: string) =>
  tx.run(sql`delete from member_tries where member_id = ${memberId}`)

import { type Db, sql } from '#runtime/db/db'

export type UserRef = { entityId: string; userId: string }

/** The secrets that open a user's key. */
export type SecretKind = 'pin' | 'answers' | 'device' | 'recovery'
/** A wrap of `login` opens by the root key alone, for a user whose login opens the key. */
type WrapKind = SecretKind | 'login'

/** The user's key, sealed for one secret that opens it. The last three are null where the secret is random. */
export type WrapRow = {
  kind: WrapKind
  slot: string
  sealedKey: Buffer
  salt: Buffer | null
  memoryKib: number | null
  passes: number | null
}

type UserKeyRow = { sealedSecret: Buffer; questions: string[] | null }

export const findUserKey = (db: Db, { entityId, userId }: UserRef) =>
  db.maybe<UserKeyRow>(sql`select sealed_secret, questions from user_keys
    where entity_id = ${entityId} and user_id = ${userId}`)

/** Inserts the key of a user; false when the user has one. */
export async function insertUserKey(
  tx: Db,
  { entityId, userId }: UserRef,
  row: { sealedSecret: Buffer; createDate: string },
): Promise<boolean> {
  const count = await tx.run(sql`insert into user_keys (entity_id, user_id, sealed_secret, create_date)
    values (${entityId}, ${userId}, ${row.sealedSecret}, ${row.createDate}) on conflict do nothing`)
  return count === 1
}

/** Sets the questions once; false when they are set. */
export async function insertQuestions(
  tx: Db,
  { entityId, userId }: UserRef,
  questions: readonly string[],
): Promise<boolean> {
  const count = await tx.run(sql`update user_keys set questions = ${questions}::text[]
    where entity_id = ${entityId} and user_id = ${userId} and questions is null`)
  return count === 1
}

export const findWrap = <Kind extends WrapKind>(
  db: Db,
  { entityId, userId }: UserRef,
  kind: Kind,
  slot: string,
) =>
  db.maybe<WrapRow & { kind: Kind }>(sql`select kind, slot, sealed_key, salt, memory_kib, passes
    from user_key_wraps where entity_id = ${entityId} and user_id = ${userId} and kind = ${kind} and slot = ${slot}`)

/** Everything that opens the key of a user. */
export const waysOf = (db: Db, { entityId, userId }: UserRef) =>
  db.all<{ kind: WrapKind; slot: string }>(sql`select kind, slot from user_key_wraps
    where entity_id = ${entityId} and user_id = ${userId}`)

/** Inserts a wrap, or replaces the one of its kind and slot. */
export const putWrap = (tx: Db, { entityId, userId }: UserRef, row: WrapRow, updateDate: string) =>
  tx.run(sql`insert into user_key_wraps (entity_id, user_id, kind, slot, sealed_key, salt, memory_kib, passes,
      create_date, update_date)
    values (${entityId}, ${userId}, ${row.kind}, ${row.slot}, ${row.sealedKey}, ${row.salt}, ${row.memoryKib},
      ${row.passes}, ${updateDate}, ${updateDate})
    on conflict (entity_id, user_id, kind, slot) do update set sealed_key = excluded.sealed_key, salt = excluded.salt,
      memory_kib = excluded.memory_kib, passes = excluded.passes, update_date = excluded.update_date`)

/** Removes the wraps of all devices of a user but the newest ones; `newest` is the first of them, whatever the clock said. */
export const removeDevices = (
  tx: Db,
  { entityId, userId }: UserRef,
  { kept, newest = '' }: { kept: number; newest?: string },
) =>
  tx.run(sql`delete from user_key_wraps where entity_id = ${entityId} and user_id = ${userId} and kind = 'device'
      and slot in (select slot from user_key_wraps
        where entity_id = ${entityId} and user_id = ${userId} and kind = 'device'
        order by slot = ${newest} desc, update_date desc, slot offset ${kept})`)

/** Replaces a wrap unless another one took its place meanwhile. */
export const renewWrap = (
  tx: Db,
  { entityId, userId }: UserRef,
  old: WrapRow,
  row: WrapRow,
  updateDate: string,
) =>
  tx.run(sql`update user_key_wraps set sealed_key = ${row.sealedKey}, salt = ${row.salt},
      memory_kib = ${row.memoryKib}, passes = ${row.passes}, update_date = ${updateDate}
    where entity_id = ${entityId} and user_id = ${userId} and kind = ${old.kind} and slot = ${old.slot}
      and sealed_key = ${old.sealedKey}`)

import { type Db, sql } from '#runtime/db/db'

export type GrantRow = { entityId: string; intentId: string; address: string; sealedKey: Buffer }

export const insertGrant = (tx: Db, row: GrantRow & { keyId: string; createDate: string }) =>
  tx.run(sql`insert into grants (entity_id, intent_id, key_id, address, sealed_key, create_date)
    values (${row.entityId}, ${row.intentId}, ${row.keyId}, ${row.address}, ${row.sealedKey}, ${row.createDate})`)

export type IntentRef = { entityId: string; intentId: string }

const pairs = (intents: readonly IntentRef[]) =>
  sql`unnest(${intents.map((intent) => intent.entityId)}::uuid[],
    ${intents.map((intent) => intent.intentId)}::uuid[]) as asked(entity_id, intent_id)`

export const findGrants = (db: Db, intents: readonly IntentRef[]) =>
  db.all<GrantRow>(sql`select g.entity_id as "entityId", g.intent_id as "intentId", g.address,
      g.sealed_key as "sealedKey"
    from ${pairs(intents)} join grants g using (entity_id, intent_id)`)

export const deleteGrants = (tx: Db, intents: readonly IntentRef[]) =>
  tx.run(sql`delete from grants g using ${pairs(intents)}
    where g.entity_id = asked.entity_id and g.intent_id = asked.intent_id`)

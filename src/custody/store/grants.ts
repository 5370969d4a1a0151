import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { frozenWalletOf } from './freezes.ts'

type GrantRow = { entityId: string; intentId: string; address: string; sealedKey: Buffer }

type NewGrant = GrantRow & { keyId: string; walletId: string; decisionId: string; createDate: string }

export const insertGrant = (tx: Db, row: NewGrant) =>
  tx.run(sql`insert into grants (entity_id, intent_id, key_id, wallet_id, decision_id, address, sealed_key,
      create_date)
    values (${row.entityId}, ${row.intentId}, ${row.keyId}, ${row.walletId}, ${row.decisionId}, ${row.address},
      ${row.sealedKey}, ${row.createDate})`)

/** An intent, which is what a request asked to have signed: a transaction, with all its attempts and replacements, by its id. */
export type IntentRef = { entityId: string; intentId: string }

const pairs = (intents: readonly IntentRef[]) =>
  sql`unnest(${intents.map((intent) => intent.entityId)}::uuid[],
    ${intents.map((intent) => intent.intentId)}::uuid[]) as asked(entity_id, intent_id)`

/** The SHA-256 of the intent of a grant `t`, in hexadecimal digits: its decision has it. */
export const intentOfGrant = `select encode(d.intent_sha256, 'hex') from policy_decisions d
  where d.entity_id = t.entity_id and d.id = t.decision_id`

/** A grant with the family of its key, and whether its wallet or entity is frozen. */
export type FoundGrant = GrantRow & { family: string; frozen: boolean }

/** Returns the grants of those intents that have one, in no order. */
export const findGrants = (db: Db, intents: readonly IntentRef[]) =>
  perEntity(intents, (entityId, own) => {
    // A treasury is no wallet: only its entity can be frozen.
    const frozenEntity = sql`exists (select 1 from entity_freezes f where f.entity_id = ${entityId})`
    return db.all<FoundGrant>(sql`select g.entity_id, g.intent_id, g.address, k.family, g.sealed_key,
      coalesce(${frozenWalletOf(entityId)}, false) or ${frozenEntity} as frozen
    from unnest(${own.map((intent) => intent.intentId)}::uuid[]) as asked(intent_id)
    cross join lateral (select * from grants o where o.entity_id = ${entityId} and o.intent_id = asked.intent_id limit 1) g
    join keys k on k.entity_id = ${entityId} and k.id = g.key_id
    left join wallets w on w.entity_id = ${entityId} and w.id = g.wallet_id`)
  })

export const deleteGrants = (tx: Db, intents: readonly IntentRef[]) =>
  tx.run(sql`delete from grants g using ${pairs(intents)}
    where g.entity_id = asked.entity_id and g.intent_id = asked.intent_id`)

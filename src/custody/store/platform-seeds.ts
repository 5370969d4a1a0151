import { type Db, sql } from '#runtime/db/db'

/** Stores the first seed of an entity; a second one is dropped. */
export const insertPlatformSeed = (
  tx: Db,
  row: { entityId: string; sealedEntropy: Buffer; createDate: string },
) =>
  tx.run(sql`insert into platform_seeds (entity_id, sealed_entropy, create_date)
    values (${row.entityId}, ${row.sealedEntropy}, ${row.createDate}) on conflict do nothing`)

/** Takes the next index of the entity's platform keys; other transactions wait for theirs until the tx ends. */
export const takePlatformIndex = (tx: Db, entityId: string) =>
  tx.maybe<{ sealedEntropy: Buffer; index: number }>(sql`update platform_seeds set next_index = next_index + 1
    where entity_id = ${entityId} returning sealed_entropy, next_index - 1 as index`)

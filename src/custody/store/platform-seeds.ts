import { type Db, sql } from '#runtime/db/db'

/** Stores the seed of an entity's platform keys, unless it has one. */
export const insertPlatformSeed = (
  tx: Db,
  row: { entityId: string; sealedEntropy: Buffer; createDate: string },
) =>
  tx.run(sql`insert into platform_seeds (entity_id, sealed_entropy, create_date)
    values (${row.entityId}, ${row.sealedEntropy}, ${row.createDate}) on conflict do nothing`)

/** Takes the next index of the entity's platform keys, from 0, with their seed; `undefined` before it has one. Others wait until the `tx` ends. */
export const takePlatformIndex = (tx: Db, entityId: string) =>
  tx.maybe<{ sealedEntropy: Buffer; index: number }>(sql`update platform_seeds set next_index = next_index + 1
    where entity_id = ${entityId} returning sealed_entropy, next_index - 1 as index`)

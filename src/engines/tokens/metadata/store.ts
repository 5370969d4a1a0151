import { type Db, sql } from '#runtime/db/db'

/** The metadata of an NFT as far as it is known. */
export type KnownMetadata = {
  tokenId: string
  uri: string
  content: string | null
  failureCount: number
  dueAt: string
}

export const knownMetadata = (db: Db, tokenIds: readonly string[]) =>
  db.all<KnownMetadata>(sql`select token_id, uri, content, failure_count, due_at
    from item_metadata where token_id = any(${tokenIds}::uuid[])`)

/** Keeps what was fetched. A failure, without `content`, keeps what was fetched from the same address before. */
export const keepMetadata = (db: Db, { tokenId, uri, content, failureCount, dueAt }: KnownMetadata) =>
  db.run(sql`insert into item_metadata as m (token_id, uri, content, failure_count, due_at)
    values (${tokenId}, ${uri}, ${content}, ${failureCount}, ${dueAt})
    on conflict (token_id) do update set uri = excluded.uri, failure_count = excluded.failure_count,
      due_at = excluded.due_at,
      content = coalesce(excluded.content, case when m.uri = excluded.uri then m.content end)`)

import { createHash, randomBytes } from 'node:crypto'
import { newId, uuidIn } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import type { EntityEnvironment, KeyScope } from '#runtime/scope'
import { keyText, prefixOf } from './key-text.ts'

/** Entities and their keys: API keys and client keys. A key's secret is 256 random bits, kept only as its SHA-256. */
export type ApiKey = {
  id: string
  entityId: string
  environment: EntityEnvironment
  appId: string
  secretHash: Buffer
  scopes: KeyScope[]
  expireDate: string | null
  /** Addresses and networks from which it may be used; null for all. */
  allowedAddresses: string[] | null
  /** Its last use, to two minutes. */
  usedDate: string | null
}

type NewEntity = {
  id: string
  environment: EntityEnvironment
  name: string
  nowMs: number
  appId?: string
}

export async function insertEntity(tx: Db, entity: NewEntity): Promise<void> {
  const appId = entity.appId ?? newId(entity.nowMs)
  await tx.run(sql`insert into entities (id, environment, name, app_id, create_date)
    values (${entity.id}, ${entity.environment}, ${entity.name}, ${appId}, ${formatInstant(entity.nowMs)})
    on conflict (id) do nothing`)
}

export const findEntity = (db: Db, id: string) =>
  db.maybe<{ id: string; environment: EntityEnvironment; name: string; appId: string }>(
    sql`select id, environment, name, app_id from entities where id = ${uuidIn(id) ?? null}::uuid`,
  )

export const findEntities = (db: Db, ids: readonly string[]) =>
  db.all<{ id: string; environment: EntityEnvironment; name: string }>(
    sql`select id, environment, name from entities where id = any(${[...new Set(ids)]}::uuid[])`,
  )

export async function environmentsOf(
  db: Db,
  entityIds: readonly string[],
): Promise<ReadonlyMap<string, EntityEnvironment>> {
  const rows = await findEntities(db, entityIds)
  return new Map(rows.map(({ id, environment }) => [id, environment]))
}

export const listEntities = (db: Db) =>
  db.all<{ id: string; environment: EntityEnvironment; name: string; createDate: string }>(
    sql`select id, environment, name, create_date from entities order by create_date, id`,
  )

export type NewApiKey = {
  entityId: string
  environment: EntityEnvironment
  nowMs: number
  id?: string
  secret?: string
  /** Default: `api` alone. */
  scopes?: readonly KeyScope[]
  /** When it ends; default: never. */
  expireDate?: string | undefined
  /** Addresses and networks from which it may be used; default: all. */
  allowedAddresses?: readonly string[] | undefined
}

/** Creates a key and returns its text, which is shown once and never stored. */
export async function insertApiKey(tx: Db, key: NewApiKey): Promise<{ id: string; text: string }> {
  const id = key.id ?? newId(key.nowMs)
  const secret = key.secret ?? randomBytes(32).toString('hex')
  const scopes = key.scopes ?? ['api']
  await tx.run(sql`insert into api_keys (entity_id, id, secret_hash, scopes, create_date, expire_date, allowed_addresses)
    values (${key.entityId}, ${id}, ${hashSecret(secret)}, ${scopes}::text[], ${formatInstant(key.nowMs)},
      ${key.expireDate ?? null}, ${key.allowedAddresses ?? null}::text[])
    on conflict (entity_id, id) do update set scopes = excluded.scopes`)
  return { id, text: keyText(prefixOf({ ...key, scopes }), id, secret) }
}

export const listApiKeys = (db: Db, entityId: string) =>
  db.all<ListedKey>(
    sql`select ${listedColumns} from api_keys k where k.entity_id = ${entityId} order by k.create_date, k.id`,
  )

export type ListedKey = {
  id: string
  scopes: KeyScope[]
  createDate: string
  expireDate: string | null
  allowedAddresses: string[] | null
  /** Its last use, to two minutes. */
  usedDate: string | null
  usedAddress: string | null
  revokedDate: string | null
}

const listedColumns = sql`k.id, k.scopes, k.create_date, k.expire_date, k.allowed_addresses, k.used_date,
  k.used_address, k.revoked_date`

/** The keys of an entity, also the revoked ones, newest first. */
export const apiKeysPage = (db: Db, entityId: string, page: PageQuery) =>
  readPage<ListedKey>(
    db,
    {
      columns: listedColumns,
      from: sql`api_keys k`,
      alias: 'k',
      scope: sql`k.entity_id = ${entityId}`,
      filters: [],
    },
    page,
  )

/** A key of the entity, revoked or not. With `lock`, it is not revoked until the `tx` ends. */
export const findApiKey = (db: Db, entityId: string, id: string, { lock }: { lock: boolean }) =>
  db.maybe<ListedKey>(sql`select ${listedColumns} from api_keys k
    where k.entity_id = ${entityId} and k.id = ${id} ${lock ? sql`for no key update` : sql``}`)

/** Revokes a key; it stops working within a second on every process. Returns the key, if it was a live one. */
export function revokeApiKey(tx: Db, id: string, nowMs: number) {
  return tx.maybe<{
    id: string
    entityId: string
  }>(sql`update api_keys set revoked_date = ${formatInstant(nowMs)}
    where id::text = ${uuidIn(id) ?? ''} and revoked_date is null returning id, entity_id`)
}

/** Revokes a key of this entity. False if it was revoked before. */
export const revokeOwnKey = async (tx: Db, entityId: string, id: string, nowMs: number): Promise<boolean> =>
  (await tx.run(sql`update api_keys set revoked_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id} and revoked_date is null`)) === 1

/** Notes a use of a key. */
export const touchApiKey = (
  db: Db,
  { entityId, id }: Pick<ApiKey, 'entityId' | 'id'>,
  address: string,
  nowMs: number,
) =>
  db.run(sql`update api_keys set used_date = ${formatInstant(nowMs)}, used_address = ${address}
    where entity_id = ${entityId} and id = ${id}`)

/** Returns the keys with these ids that are not revoked; expired ones, too. */
export const findApiKeys = (db: Db, ids: readonly string[]) =>
  db.all<ApiKey>(sql`select k.id, k.entity_id, k.secret_hash, k.scopes, k.expire_date, k.allowed_addresses, k.used_date,
      e.environment, e.app_id
    from api_keys k join entities e on e.id = k.entity_id
    where k.id = any(${ids}::uuid[]) and k.revoked_date is null`)

export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()

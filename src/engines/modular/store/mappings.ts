import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'

/** An account that its owner may find. `owner`: an address, the coordinates of a key as `x:y`, or the id of an unclaimed owner. */
export type OwnerMapping = {
  id: string
  blockchain: string
  walletAddress: string
  owner: string
  createDate: string
}

/** The place of mappings: all of them are of one entity and chain. */
export type MappingPlace = { entityId: string; blockchain: string }

const columns = sql`m.id, m.blockchain, m.wallet_address, m.owner, m.create_date`
const at = ({ entityId, blockchain }: MappingPlace) =>
  sql`m.entity_id = ${entityId} and m.blockchain = ${blockchain}`

/** The wallets that have the owner, in the order of blocks and their logs. A wallet that needs no block proves nothing, and is last. */
export const boundMappings = (db: Db, place: MappingPlace, owners: readonly string[], limit: number) =>
  db.all<OwnerMapping>(sql`select ${columns} from owner_mappings m
    where ${at(place)} and m.owner = any(${owners}::text[]) and m.bound_date is not null
    order by m.bound_block, m.bound_log, m.bound_date, m.id limit ${limit}`)

/** Claims whose wallets had operations before owners were read from blocks, and so may have added the owner unseen. */
export const movedClaims = (db: Db, place: MappingPlace, owner: string, limit: number) =>
  db.all<OwnerMapping>(sql`select ${columns} from owner_mappings m
    where ${at(place)} and m.owner = ${owner} and m.bound_date is null and m.moved_date is not null
    order by m.moved_date, m.id limit ${limit}`)

export const findMapping = (db: Db, place: MappingPlace, owner: string, walletAddress: string) =>
  db.maybe<OwnerMapping>(sql`select ${columns} from owner_mappings m
    where ${at(place)} and m.owner = ${owner} and m.wallet_address = ${walletAddress}`)

/** Removes the oldest claims of a wallet beyond so many; what counts stays. */
export const removeOldestClaims = (tx: Db, place: MappingPlace, walletAddress: string, kept: number) =>
  tx.run(sql`delete from owner_mappings m where ${at(place)} and m.wallet_address = ${walletAddress} and m.bound_date is null
    and m.id not in (select k.id from owner_mappings k where k.entity_id = ${place.entityId}
      and k.blockchain = ${place.blockchain} and k.wallet_address = ${walletAddress} and k.bound_date is null
      order by k.id desc limit ${kept})`)

/** Inserts a mapping; `undefined` when it is there already. `isSole`: whether the wallet has the owner without a block. */
export const insertMapping = (
  tx: Db,
  nowMs: number,
  entityId: string,
  { isSole, ...row }: Omit<OwnerMapping, 'createDate'> & { isSole: boolean },
) =>
  tx.maybe<OwnerMapping>(sql`insert into owner_mappings as m (entity_id, id, blockchain, wallet_address, owner,
      create_date, bound_date, is_sole)
    values (${entityId}, ${row.id}, ${row.blockchain}, ${row.walletAddress}, ${row.owner}, ${formatInstant(nowMs)},
      ${isSole ? formatInstant(nowMs) : null}, ${isSole})
    on conflict (entity_id, blockchain, owner, wallet_address) do nothing returning ${columns}`)

export const removeMappings = (db: Db, place: MappingPlace, ids: readonly string[]) =>
  db.run(sql`delete from owner_mappings m where ${at(place)} and m.id = any(${ids}::uuid[])`)

/** The last place in a block: after all that its logs bind. */
const lastLog = 2 ** 31 - 1

/** Binds claims whose owners the chain names, without the block that gave them. `block`: the last one that may have. */
export const bindClaims = (
  db: Db,
  nowMs: number,
  place: MappingPlace,
  { ids, block }: { ids: readonly string[]; block: number },
) =>
  db.run(sql`update owner_mappings m set bound_date = coalesce(m.bound_date, m.moved_date, ${formatInstant(nowMs)}),
      bound_block = ${block}, bound_log = ${lastLog}
    where ${at(place)} and m.id = any(${ids}::uuid[]) and m.bound_block is null`)

type EntityClaim = OwnerMapping & { entityId: string }

/** The claims on wallets that no block has bound. */
export const claimsWithoutBlock = (
  tx: Db,
  blockchain: string,
  wallets: readonly { entityId: string; account: string }[],
) =>
  tx.all<EntityClaim>(sql`select m.entity_id, ${columns} from owner_mappings m
    where m.blockchain = ${blockchain} and m.bound_block is null and (m.entity_id, m.wallet_address) in (
      select * from unnest(${wallets.map((row) => row.entityId)}::uuid[], ${wallets.map((row) => row.account)}::text[]))`)

type BoundInBlock = { entityId: string; id: string; block: number; log: number; hash: string }

export async function bindInBlock(tx: Db, nowMs: number, rows: readonly BoundInBlock[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`update owner_mappings m set bound_date = coalesce(m.bound_date, ${formatInstant(nowMs)}), bound_block = n.b,
      bound_log = n.l, bound_hash = n.h
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.block)}::int8[], ${rows.map((row) => row.log)}::int4[],
      ${rows.map((row) => row.hash)}::text[]) as n(e, i, b, l, h)
    where m.entity_id = n.e and m.id = n.i and m.bound_block is null`)
}

type BoundOwner = Omit<OwnerMapping, 'createDate'> & BoundInBlock

/** Inserts what blocks gave wallets that were not claimed, as long as a wallet has fewer than `max` owners that count. */
export const insertBound = (tx: Db, nowMs: number, rows: readonly BoundOwner[], max: number) =>
  perEntity(rows, async (entityId, own) => {
    await tx.run(sql`insert into owner_mappings (entity_id, id, blockchain, wallet_address, owner, create_date, bound_date, bound_block,
      bound_log, bound_hash)
    select ${entityId}::uuid, n.i, n.c, n.a, n.o, ${formatInstant(nowMs)}::timestamptz, ${formatInstant(nowMs)}::timestamptz,
      n.b, n.l, n.h
    from unnest(${own.map((row) => row.id)}::uuid[], ${own.map((row) => row.blockchain)}::text[],
      ${own.map((row) => row.walletAddress)}::text[], ${own.map((row) => row.owner)}::text[],
      ${own.map((row) => row.block)}::int8[], ${own.map((row) => row.log)}::int4[],
      ${own.map((row) => row.hash)}::text[]) as n(i, c, a, o, b, l, h)
    where (select count(*) from owner_mappings m where m.entity_id = ${entityId} and m.blockchain = n.c
      and m.wallet_address = n.a and m.bound_date is not null) < ${max}
    on conflict (entity_id, blockchain, owner, wallet_address) do nothing`)
    return []
  })

/** Returns what an orphaned block bound to the claims. The hash stays: such a claim does not end. */
export const unbindBlock = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`update owner_mappings m set bound_block = null, bound_log = null,
      bound_date = case when m.is_sole then m.bound_date end
    where m.blockchain = ${blockchain} and m.bound_hash = ${blockHash}`)

/** Returns claims whose wallets do not have the owner to those that wait for a block. */
export const rejectClaims = (db: Db, place: MappingPlace, ids: readonly string[]) =>
  db.run(sql`update owner_mappings m set moved_date = null
    where ${at(place)} and m.id = any(${ids}::uuid[]) and m.bound_date is null`)

/** Time after which a claim ends when its wallet has not got the owner, and the number of ended ones that each new one removes. */
const claimMs = 86_400_000
const removedEach = 10

export const removeEndedClaims = (tx: Db, nowMs: number, entityId: string) =>
  tx.run(sql`with ended as materialized (
      select id from owner_mappings where entity_id = ${entityId} and bound_date is null and moved_date is null
        and bound_hash is null
        and create_date < ${formatInstant(nowMs - claimMs)}
      order by create_date limit ${removedEach} for update skip locked)
    delete from owner_mappings where entity_id = ${entityId} and id in (select id from ended)`)

import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

/** An account that its owner may find. `owner`: an address, or the coordinates of a key as `x:y`. */
export type OwnerMapping = {
  id: string
  blockchain: string
  walletAddress: string
  owner: string
  createDate: string
}

/** The place of mappings: all of them are of one entity and chain. */
export type MappingPlace = { entityId: string; blockchain: string }

const columns = sql`m.id, m.blockchain, m.wallet_address as "walletAddress", m.owner, m.create_date as "createDate"`
const at = ({ entityId, blockchain }: MappingPlace) =>
  sql`m.entity_id = ${entityId} and m.blockchain = ${blockchain}`

/** The wallets that have the owner, the earliest first: a wallet that adds the owner later never comes before. */
export const boundMappings = (db: Db, place: MappingPlace, owner: string, limit: number) =>
  db.all<OwnerMapping>(sql`select ${columns} from owner_mappings m
    where ${at(place)} and m.owner = ${owner} and m.bound_date is not null order by m.bound_date, m.id limit ${limit}`)

/** Claims whose wallets have moved since, and so may have added the owner. */
export const movedClaims = (db: Db, place: MappingPlace, owner: string, limit: number) =>
  db.all<OwnerMapping>(sql`select ${columns} from owner_mappings m
    where ${at(place)} and m.owner = ${owner} and m.bound_date is null and m.moved_date is not null
    order by m.moved_date, m.id limit ${limit}`)

export const findMapping = (db: Db, place: MappingPlace, owner: string, walletAddress: string) =>
  db.maybe<OwnerMapping & { isBound: boolean }>(sql`select ${columns}, m.bound_date is not null as "isBound"
    from owner_mappings m where ${at(place)} and m.owner = ${owner} and m.wallet_address = ${walletAddress}`)

export const countMappings = async (db: Db, place: MappingPlace, walletAddress: string) =>
  (
    await db.one<{ n: number }>(sql`select count(*)::integer as n from owner_mappings m
      where ${at(place)} and m.wallet_address = ${walletAddress}`)
  ).n

/** Inserts a mapping; `undefined` when it is there already. `isBound`: whether the wallet has the owner now. */
export const insertMapping = (
  tx: Db,
  nowMs: number,
  entityId: string,
  { isBound, ...row }: Omit<OwnerMapping, 'createDate'> & { isBound: boolean },
) =>
  tx.maybe<OwnerMapping>(sql`insert into owner_mappings as m (entity_id, id, blockchain, wallet_address, owner,
      create_date, bound_date)
    values (${entityId}, ${row.id}, ${row.blockchain}, ${row.walletAddress}, ${row.owner}, ${formatInstant(nowMs)},
      ${isBound ? formatInstant(nowMs) : null})
    on conflict (entity_id, blockchain, owner, wallet_address) do nothing returning ${columns}`)

/** Binds claims, each at the time when its wallet moved, or at `nowMs` when it did not. */
export const bindClaims = (db: Db, nowMs: number, place: MappingPlace, ids: readonly string[]) =>
  db.run(sql`update owner_mappings m set bound_date = coalesce(m.moved_date, ${formatInstant(nowMs)})
    where ${at(place)} and m.id = any(${ids}::uuid[]) and m.bound_date is null`)

/** Returns claims whose wallets do not have the owner to those that wait for a move. */
export const rejectClaims = (db: Db, place: MappingPlace, ids: readonly string[]) =>
  db.run(sql`update owner_mappings m set moved_date = null
    where ${at(place)} and m.id = any(${ids}::uuid[]) and m.bound_date is null`)

/** Notes that wallets moved: their claims are compared with the chain when they are next asked for. */
export const noteMoved = (
  tx: Db,
  moves: readonly { entityId: string; blockchain: string; account: string; blockTime: string }[],
) =>
  tx.run(sql`update owner_mappings m set moved_date = n.t
    from unnest(${moves.map((row) => row.entityId)}::uuid[], ${moves.map((row) => row.blockchain)}::text[],
      ${moves.map((row) => row.account)}::text[], ${moves.map((row) => row.blockTime)}::timestamptz[]) as n(e, c, a, t)
    where m.entity_id = n.e and m.blockchain = n.c and m.wallet_address = n.a and m.bound_date is null
      and m.moved_date is null`)

/** Time after which a claim ends when its wallet has not moved, and the number of ended ones that each new one removes. */
const claimMs = 86_400_000
const removedEach = 10

export const removeEndedClaims = (tx: Db, nowMs: number, entityId: string) =>
  tx.run(sql`with ended as materialized (
      select id from owner_mappings where entity_id = ${entityId} and bound_date is null and moved_date is null
        and create_date < ${formatInstant(nowMs - claimMs)}
      order by create_date limit ${removedEach} for update skip locked)
    delete from owner_mappings where entity_id = ${entityId} and id in (select id from ended)`)

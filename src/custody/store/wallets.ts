import type { ScaCore } from '#lib/sca-cores'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, type Sql, sql } from '#runtime/db/db'
import { isOwned, type RowOwner } from '#runtime/row-owner'
import type { Wallet, WalletMetadata } from '../wallets/types.ts'
import { frozenWalletOf } from './freezes.ts'

const columnsOf = (
  entityId: string,
) => sql`w.id, w.wallet_set_id, w.key_id, w.blockchain, w.address, w.derivation_index, w.account_type,
  w.sca_core, w.first_core, w.custody_type, w.user_id, case when ${frozenWalletOf(entityId)} then 'FROZEN' else 'LIVE' end as state, w.name,
  w.ref_id, w.create_date, w.update_date, (select k.public_key from keys k where k.entity_id = ${entityId}
  and k.id = w.key_id) as initial_public_key`

export const findWallet = (db: Db, owner: RowOwner, id: string) =>
  db.maybe<Wallet>(
    sql`select ${columnsOf(owner.entityId)} from wallets w where ${isOwned('w', owner)} and w.id = ${id}`,
  )

export const findWalletByAddress = (db: Db, owner: RowOwner, blockchain: string, address: string) =>
  db.maybe<Wallet>(sql`select ${columnsOf(owner.entityId)} from wallets w
    where ${isOwned('w', owner)} and w.blockchain = ${blockchain} and w.address = ${address}`)

/** The address whose key owns a smart account, and the version that the account is created with. */
export const ownerOfAccount = (db: Db, entityId: string, blockchain: string, account: string) =>
  db.maybe<{ address: string; core: ScaCore }>(sql`select k.address, w.first_core as core from wallets w
    join keys k on k.entity_id = w.entity_id and k.id = w.key_id
    where w.entity_id = ${entityId} and w.blockchain = ${blockchain} and w.address = ${account}
      and w.account_type = 'SCA'`)

/** Returns one of the wallets with this address on any blockchain, a frozen one if there is one: all have the same key. */
export const findWalletAnywhere = (db: Db, owner: RowOwner, address: string) =>
  db.maybe<Wallet>(sql`select ${columnsOf(owner.entityId)} from wallets w
    where ${isOwned('w', owner)} and w.address = ${address}
    order by w.state = 'FROZEN' desc, w.create_date, w.id limit 1`)

export const lockWallet = (tx: Db, owner: RowOwner, id: string) =>
  tx.maybe<Wallet>(sql`select ${columnsOf(owner.entityId)} from wallets w
    where ${isOwned('w', owner)} and w.id = ${id} for no key update`)

/** Returns the wallets that one request created, by derivation index and then id. */
export const walletsOfBatch = (db: Db, entityId: string, batchId: string) =>
  db.all<Wallet>(sql`select ${columnsOf(entityId)} from wallets w
    where w.entity_id = ${entityId} and w.batch_id = ${batchId} order by w.derivation_index, w.id`)

/** Returns the wallets that the same request created as this wallet, by derivation index and then id. */
export const walletsMadeWith = (db: Db, entityId: string, id: string) =>
  db.all<Wallet>(sql`select ${columnsOf(entityId)} from wallets w where w.entity_id = ${entityId}
    and w.batch_id = (select made.batch_id from wallets made where made.entity_id = ${entityId} and made.id = ${id})
    order by w.derivation_index, w.id`)

type WalletFilters = {
  address?: string | undefined
  blockchain?: string | undefined
  walletSetId?: string | undefined
  refId?: string | undefined
  scaCore?: string | undefined
  /** A further condition on the rows' alias `w`. */
  where?: Sql | undefined
}

/** One page of the owner's wallets. */
export const listWallets = (db: Db, owner: RowOwner, filters: WalletFilters, page: PageQuery) =>
  readPage<Wallet>(
    db,
    {
      columns: columnsOf(owner.entityId),
      from: sql`wallets w`,
      alias: 'w',
      scope: isOwned('w', owner),
      filters: [
        filters.address === undefined ? undefined : sql`w.address = ${filters.address}`,
        filters.blockchain === undefined ? undefined : sql`w.blockchain = ${filters.blockchain}`,
        filters.walletSetId === undefined ? undefined : sql`w.wallet_set_id = ${filters.walletSetId}`,
        filters.refId === undefined ? undefined : sql`w.ref_id = ${filters.refId}`,
        filters.scaCore === undefined ? undefined : sql`w.sca_core = ${filters.scaCore}`,
        filters.where,
      ],
    },
    page,
  )

/** Returns the lowest index above all that wallets of this set and account type have on these blockchains; 0 for the first. */
export async function nextIndex(
  tx: Db,
  entityId: string,
  walletSetId: string,
  blockchains: readonly string[],
  accountType: Wallet['accountType'],
): Promise<number> {
  const row = await tx.one<{ next: number }>(sql`select coalesce(max(last.index) + 1, 0) as next
    from unnest(${blockchains}::text[]) as chain(name)
    cross join lateral (select max(w.derivation_index) as index from wallets w where w.entity_id = ${entityId}
      and w.wallet_set_id = ${walletSetId} and w.blockchain = chain.name and w.account_type = ${accountType}) as last`)
  return row.next
}

/** The fields in which the wallets of one request differ. */
export type NewWallet = {
  id: string
  keyId: string
  blockchain: string
  address: string
  derivationIndex: number
  name: string | null
  refId: string | null
}

export const insertWallets = (
  tx: Db,
  shared: {
    entityId: string
    walletSetId: string
    batchId: string
    createDate: string
    accountType: Wallet['accountType']
    scaCore: ScaCore | null
  },
  rows: readonly NewWallet[],
) =>
  tx.run(sql`insert into wallets (entity_id, wallet_set_id, batch_id, account_type, sca_core, first_core, custody_type, user_id,
      state, create_date, update_date, id, key_id, blockchain, address, derivation_index, name, ref_id)
    select s.entity_id, s.id, ${shared.batchId}::uuid, ${shared.accountType}, ${shared.scaCore}::text,
      ${shared.scaCore}::text, s.custody_type, u.user_id, 'LIVE', ${shared.createDate}::timestamptz,
      ${shared.createDate}::timestamptz, row.*
    from wallet_sets s
    left join user_names u on u.entity_id = s.entity_id and u.id = s.user_id
    cross join unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.keyId)}::uuid[],
      ${rows.map((row) => row.blockchain)}::text[], ${rows.map((row) => row.address)}::text[],
      ${rows.map((row) => row.derivationIndex)}::int[], ${rows.map((row) => row.name)}::text[],
      ${rows.map((row) => row.refId)}::text[]) as row
    where s.entity_id = ${shared.entityId} and s.id = ${shared.walletSetId}`)

/** Sets the given fields; an empty text clears one. */
export const setWalletMetadata = (
  tx: Db,
  entityId: string,
  id: string,
  { name, refId }: WalletMetadata,
  updateDate: string,
) =>
  tx.one<Wallet>(sql`update wallets w set
      name = case when ${name !== undefined}::boolean then ${name || null}::text else w.name end,
      ref_id = case when ${refId !== undefined}::boolean then ${refId || null}::text else w.ref_id end,
      update_date = ${updateDate}
    where w.entity_id = ${entityId} and w.id = ${id} returning ${columnsOf(entityId)}`)

/** The version of a wallet's smart account after an upgrade; null for the version with which it was created. */
export type WalletCore = { entityId: string; walletId: string; core: ScaCore | null }

/** Sets the versions of smart accounts; returns the wallets that changed. */
export const setCores = (tx: Db, rows: readonly WalletCore[], updateDate: string) =>
  tx.all<{ entityId: string; id: string; scaCore: ScaCore }>(sql`update wallets w
    set sca_core = coalesce(n.c, w.first_core), update_date = ${updateDate}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.walletId)}::uuid[],
      ${rows.map((row) => row.core)}::text[]) as n(e, i, c)
    where w.entity_id = n.e and w.id = n.i and w.sca_core <> coalesce(n.c, w.first_core)
    returning w.entity_id, w.id, w.sca_core`)

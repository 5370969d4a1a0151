import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'

/** A modular wallet. Dates are as shown: UTC with milliseconds. */
export type ModularWallet = {
  entityId: string
  id: string
  blockchain: string
  address: string
  name: string | null
  /** The first owners, as clients configure them. */
  owners: WalletOwners | null
  createDate: string
  updateDate: string
}

/** The form in which clients configure owners. The coordinates of keys are decimal. */
export type WalletOwners = {
  owners?: readonly { address: string; weight: number }[]
  webauthnOwners?: readonly { publicKeyX: string; publicKeyY: string; weight: number }[]
  thresholdWeight: number
}

const columns = sql`w.entity_id, w.id, w.blockchain, w.address, w.name, w.owners, w.create_date, w.update_date`

export const findWalletAt = (db: Db, entityId: string, blockchain: string, address: string) =>
  db.maybe<ModularWallet>(sql`select ${columns} from modular_wallets w
    where w.entity_id = ${entityId} and w.blockchain = ${blockchain} and w.address = ${address}`)

export const findModularWallet = (db: Db, entityId: string, id: string) =>
  db.maybe<ModularWallet>(sql`select ${columns} from modular_wallets w
    where w.entity_id = ${entityId} and w.id = ${id}`)

export const modularWalletsPage = (
  db: Db,
  entityId: string,
  { blockchain, address }: { blockchain: string | undefined; address: string | undefined },
  page: PageQuery,
) =>
  readPage<ModularWallet>(
    db,
    {
      columns,
      from: sql`modular_wallets w`,
      alias: 'w',
      scope: sql`w.entity_id = ${entityId}`,
      filters: [
        blockchain === undefined ? undefined : sql`w.blockchain = ${blockchain}`,
        address === undefined ? undefined : sql`w.address = ${address}`,
      ],
      hasDatedIds: true,
    },
    page,
  )

export const walletsAt = (
  db: Db,
  blockchain: string,
  accounts: readonly { entityId: string; account: string }[],
) =>
  db.all<ModularWallet>(sql`select ${columns} from modular_wallets w
    where w.blockchain = ${blockchain} and (w.entity_id, w.address) in (
      select * from unnest(${accounts.map((row) => row.entityId)}::uuid[], ${accounts.map((row) => row.account)}::text[]))`)

/** Inserts a wallet; `undefined` when the account is one already. */
export const insertWallet = (tx: Db, row: ModularWallet) =>
  tx.maybe<ModularWallet>(sql`insert into modular_wallets as w (entity_id, id, blockchain, address, name, owners,
      create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.blockchain}, ${row.address}, ${row.name},
      ${row.owners && JSON.stringify(row.owners)}::jsonb, ${row.createDate}, ${row.updateDate})
    on conflict (entity_id, blockchain, address) do nothing returning ${columns}`)

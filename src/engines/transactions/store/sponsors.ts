import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

/** The treasury that pays for an entity's wallets on a chain: the gas of operations, or fees of transactions. */
export type Sponsor = {
  entityId: string
  blockchain: string
  treasuryId: string
  keyId: string
  address: string
}

const columns = sql`entity_id, blockchain, treasury_id, key_id, address`

export const findSponsor = (db: Db, entityId: string, blockchain: string) =>
  db.maybe<Sponsor>(
    sql`select ${columns} from sponsors where entity_id = ${entityId} and blockchain = ${blockchain}`,
  )

/** Sets the sponsor of an entity on a chain, and its paymaster where it has one; false when there is a sponsor. */
export async function insertSponsor(
  tx: Db,
  row: Sponsor & { paymaster: string | null; createDate: string },
): Promise<boolean> {
  const inserted =
    await tx.run(sql`insert into sponsors (entity_id, blockchain, treasury_id, key_id, address, paymaster, create_date)
    values (${row.entityId}, ${row.blockchain}, ${row.treasuryId}, ${row.keyId}, ${row.address}, ${row.paymaster},
      ${row.createDate})
    on conflict (entity_id, blockchain) do nothing`)
  return inserted === 1
}

export const sponsorsOn = (db: Db, blockchain: string) =>
  db.all<Sponsor>(sql`select ${columns} from sponsors where blockchain = ${blockchain}`)

/** Treasuries that paid fees of wallets on a chain since a time. */
export const usedFeePayers = (db: Db, blockchain: string, sinceMs: number) =>
  db.all<Sponsor>(sql`select ${columns} from sponsors s where s.blockchain = ${blockchain}
    and exists (select 1 from transactions t where t.entity_id = s.entity_id and t.blockchain = s.blockchain
      and t.fee_payer is not null and t.update_date > ${formatInstant(sinceMs)})`)

/** Sponsors from before their paymasters were registered. */
export const unregisteredSponsors = (db: Db, blockchain: string, limit: number) =>
  db.all<Sponsor>(
    sql`select ${columns} from sponsors where blockchain = ${blockchain} and paymaster is null limit ${limit}`,
  )

/** Sets the paymaster of a sponsor that has none; false when it has one. */
export const setPaymaster = async (
  tx: Db,
  { entityId, blockchain }: Sponsor,
  paymaster: string,
): Promise<boolean> =>
  (await tx.run(sql`update sponsors set paymaster = ${paymaster}
    where entity_id = ${entityId} and blockchain = ${blockchain} and paymaster is null`)) === 1

/** A sponsor with a paymaster that takes USDC of accounts. */
export type UsdcSponsor = Sponsor & { usdcPaymaster: string }

/** The paymaster of an entity that takes USDC on a chain; `undefined` while its operator has opened none. */
export const findUsdcPaymaster = async (
  db: Db,
  entityId: string,
  blockchain: string,
): Promise<string | undefined> =>
  (
    await db.maybe<{ address: string }>(sql`select usdc_paymaster as address from sponsors
      where entity_id = ${entityId} and blockchain = ${blockchain} and usdc_paymaster is not null`)
  )?.address

/** The sponsors of the entities after one that have such a paymaster, in the order of their ids. */
export const usdcSponsorsOn = (db: Db, blockchain: string, after: string | undefined, limit: number) =>
  db.all<UsdcSponsor>(sql`select ${columns}, usdc_paymaster from sponsors
    where blockchain = ${blockchain} and usdc_paymaster is not null
      and (${after ?? null}::uuid is null or entity_id > ${after ?? null}::uuid) order by entity_id limit ${limit}`)

/** Sets the paymaster of a sponsor that takes USDC; false when it has one. */
export const setUsdcPaymaster = async (
  tx: Db,
  { entityId, blockchain }: Sponsor,
  paymaster: string,
): Promise<boolean> =>
  (await tx.run(sql`update sponsors set usdc_paymaster = ${paymaster}
    where entity_id = ${entityId} and blockchain = ${blockchain} and usdc_paymaster is null`)) === 1

/** A sponsor whose earlier paymaster may still have a deposit. */
export type RetiredPaymaster = Sponsor & { retired: string }

/** Earlier paymasters of the entities after one, in the order of their ids. */
export const retiredPaymasters = (db: Db, blockchain: string, after: string | undefined, limit: number) =>
  db.all<RetiredPaymaster>(sql`select ${columns}, retired_paymaster as retired from sponsors
    where blockchain = ${blockchain} and retired_paymaster is not null
      and (${after ?? null}::uuid is null or entity_id > ${after ?? null}::uuid) order by entity_id limit ${limit}`)

/** Forgets an earlier paymaster that has no deposit any more. */
export const forgetRetired = (tx: Db, { entityId, blockchain, retired }: RetiredPaymaster) =>
  tx.run(sql`update sponsors set retired_paymaster = null
    where entity_id = ${entityId} and blockchain = ${blockchain} and retired_paymaster = ${retired}`)

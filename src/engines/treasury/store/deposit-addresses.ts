import { type Db, sql } from '#runtime/db/db'

/** Where one intent waits for money. */
export type DepositAddress = {
  entityId: string
  id: string
  blockchain: string
  chain: string
  currency: string
  address: string
  paymentIntentId: string
}

export async function insertDepositAddress(
  tx: Db,
  deposit: DepositAddress & { createDate: string },
): Promise<void> {
  await tx.run(sql`insert into deposit_addresses (entity_id, id, blockchain, chain, currency, address,
      payment_intent_id, create_date)
    values (${deposit.entityId}, ${deposit.id}, ${deposit.blockchain}, ${deposit.chain}, ${deposit.currency},
      ${deposit.address}, ${deposit.paymentIntentId}, ${deposit.createDate})`)
}

/** The deposit addresses behind observed transfers: `ownerId` of each is a deposit address. */
export const depositAddressesOf = (db: Db, owners: readonly { entityId: string; ownerId: string }[]) =>
  db.all<DepositAddress>(sql`select entity_id as "entityId", id, blockchain, chain, currency, address,
      payment_intent_id as "paymentIntentId" from deposit_addresses
    where (entity_id, id) in (select * from unnest(${owners.map((owner) => owner.entityId)}::uuid[],
      ${owners.map((owner) => owner.ownerId)}::uuid[]))`)

import { type Db, sql } from '#runtime/db/db'
import type { Deposit } from '../types.ts'

export const insertCredits = (tx: Db, deposits: readonly Deposit[], createDate: string) =>
  tx.run(sql`insert into credits (entity_id, id, currency, blockchain, token_id, address, amount, create_date)
    select *, ${createDate}::timestamptz from unnest(${deposits.map((row) => row.entityId)}::uuid[],
      ${deposits.map((row) => row.id)}::uuid[], ${deposits.map((row) => row.currency)}::text[],
      ${deposits.map((row) => row.blockchain)}::text[], ${deposits.map((row) => row.tokenId)}::uuid[],
      ${deposits.map((row) => row.depositAddress)}::text[],
      ${deposits.map((row) => row.amount.toString())}::numeric[]) as row`)

export const deleteCredits = (tx: Db, deposits: readonly Pick<Deposit, 'entityId' | 'id'>[]) =>
  tx.run(sql`delete from credits c using unnest(${deposits.map((row) => row.entityId)}::uuid[],
      ${deposits.map((row) => row.id)}::uuid[]) as n(e, i)
    where c.entity_id = n.e and c.id = n.i`)

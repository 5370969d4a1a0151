import { type Db, sql } from '#runtime/db/db'
import { numeric, table, text, timestamptz, uuid } from '#runtime/db/table'
import type { Deposit } from '../types.ts'

const credits = table('credits', {
  entityId: uuid,
  id: uuid,
  currency: text,
  blockchain: text,
  tokenId: uuid,
  address: text,
  amount: numeric,
  createDate: timestamptz,
})

export const insertCredits = (tx: Db, deposits: readonly Deposit[], createDate: string) =>
  tx.run(credits.insert(deposits.map((row) => ({ ...row, address: row.depositAddress, createDate }))))

export const deleteCredits = (tx: Db, deposits: readonly Pick<Deposit, 'entityId' | 'id'>[]) =>
  tx.run(sql`delete from credits c using unnest(${deposits.map((row) => row.entityId)}::uuid[],
      ${deposits.map((row) => row.id)}::uuid[]) as n(e, i)
    where c.entity_id = n.e and c.id = n.i`)

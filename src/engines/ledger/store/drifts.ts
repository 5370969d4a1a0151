import { newId } from '#lib/ids'
import { type Db, sql } from '#runtime/db/db'
import type { Posting } from './postings.ts'

/** A balance in an unlisted token, or in an item of one. */
export type UnlistedBalance = { entityId: string; tokenId: string; address: string }

/** The booked amounts of these balances, in their order; 0 where nothing was booked. */
export async function bookedAmounts(db: Db, balances: readonly UnlistedBalance[]): Promise<bigint[]> {
  const rows = await db.all<{ place: number; amount: bigint }>(sql`select n.k as place, a.posted as amount
    from unnest(${balances.map((row) => row.entityId)}::uuid[], ${balances.map((row) => row.tokenId)}::uuid[],
      ${balances.map((row) => row.address)}::text[]) with ordinality as n(e, t, d, k)
    join accounts a on a.entity_id = n.e and a.token_id = n.t and a.kind = 'address' and a.address = n.d`)
  const amounts = new Map(rows.map(({ place, amount }) => [Number(place), amount]))
  return balances.map((_, index) => amounts.get(index + 1) ?? 0n)
}

/**
 * Brings a balance in line with its contract at a block. The other side is an account of the same address: amounts that a
 * contract invents never add up to more than an account can hold.
 */
export const driftPosting = (
  { entityId, tokenId, address }: UnlistedBalance,
  block: { blockchain: string; hash: string },
  amountAtomic: bigint,
  nowMs: number,
): Posting => ({
  entityId,
  blockchain: block.blockchain,
  blockHash: block.hash,
  fact: `drift:${newId(nowMs)}`,
  entries: [
    { kind: 'address', tokenId, address, amountAtomic },
    { kind: 'drift', tokenId, address, amountAtomic: -amountAtomic },
  ],
})

/** The balances that were brought in line at this block. */
export const driftedAt = (db: Db, blockchain: string, blockHash: string) =>
  db.all<UnlistedBalance>(sql`select distinct a.entity_id, a.token_id, a.address
    from postings p join entries e on e.entity_id = p.entity_id and e.posting_id = p.id
    join accounts a on a.entity_id = e.entity_id and a.id = e.account_id and a.kind = 'drift'
    where p.blockchain = ${blockchain} and p.block_hash = ${blockHash}`)

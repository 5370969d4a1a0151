import { randomUUID } from 'node:crypto'
import { type Database, sql } from '#runtime/db/db'

/**
 * Checks the ledger's invariants in its tables by plain SQL: every posting sums to zero for each token and currency, and
 * every cached balance equals the sum of its entries and open holds, of unclaimed coins those for gas. Throws with the rows that break one.
 */
export async function checkLedger(database: Database): Promise<void> {
  const unbalanced =
    await database.all(sql`select e.posting_id, a.token_id, a.currency, sum(e.amount)::text as sum
    from entries e join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
    group by 1, 2, 3 having sum(e.amount) <> 0 limit 10`)
  const drifted = await database.all(sql`
    with held as (
      select h.entity_id, h.account_id, sum(h.amount) as amount, sum(h.amount) filter (where h.purpose in ('fee', 'gas')) as gas
      from holds h where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)
      group by 1, 2
    ), entered as (select entity_id, account_id, sum(amount) as amount from entries group by 1, 2)
    select a.id, a.kind, a.address, a.posted::text, a.held::text, e.amount::text as entries, h.amount::text as open_holds, g.gas::text
    from accounts a
    left join entered e on e.entity_id = a.entity_id and e.account_id = a.id
    left join held h on h.entity_id = a.entity_id and h.account_id = a.id
    left join accounts o on o.entity_id = a.entity_id and a.kind = 'unclaimed' and o.kind = 'address' and o.address = a.address
      and o.token_id = a.token_id
    left join held g on g.entity_id = o.entity_id and g.account_id = o.id
    where a.posted <> coalesce(e.amount, 0) or a.held <> coalesce(h.amount, 0) + coalesce(g.gas, 0) limit 10`)
  if (unbalanced.length + drifted.length === 0) return
  throw new Error(`the ledger is inconsistent: ${JSON.stringify({ unbalanced, drifted }, null, 1)}`)
}

/** Balance of each managed address by the ledger: `address token` to base units; absent where it is zero. */
export async function ledgerBalances(
  database: Database,
  blockchain: string,
): Promise<Record<string, string>> {
  const rows = await database.all<{ key: string; posted: bigint }>(sql`
    select a.address || ' ' || t.symbol as key, a.posted from accounts a join tokens t on t.id = a.token_id
    where a.kind = 'address' and a.blockchain = ${blockchain} and a.posted <> 0 order by 1`)
  return Object.fromEntries(rows.map(({ key, posted }) => [key, String(posted)]))
}

/**
 * Posts an amount that no block contains, which only the owner of the tables can do: the ledger then differs
 * from the chain.
 */
export const insertFalsePosting = (
  owner: Database,
  {
    entityId,
    blockchain,
    tokenId,
    address,
  }: Record<'entityId' | 'blockchain' | 'tokenId' | 'address', string>,
  amountAtomic: bigint,
) =>
  owner.tx(async (tx) => {
    const id = randomUUID()
    const amount = sql`${String(amountAtomic)}::numeric`
    await tx.run(sql`insert into postings (entity_id, id, blockchain, block_hash, fact, create_date)
      select ${entityId}, ${id}, blockchain, hash, ${`forged:${id}`}, now()
      from blocks where blockchain = ${blockchain} and canonical order by number limit 1`)
    await tx.run(sql`insert into entries (entity_id, posting_id, account_id, create_date, amount)
      select entity_id, ${id}, id, now(), case when kind = 'address' then ${amount} else -${amount} end
      from accounts where entity_id = ${entityId} and token_id = ${tokenId} and (kind = 'outside' or address = ${address})`)
  })

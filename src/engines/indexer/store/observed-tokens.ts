import { newId } from '#lib/ids'
import { type Db, sql } from '#runtime/db/db'

/** A transfer that the contract of an unlisted token claims, from the side of one wallet. */
export type ObservedTokenTransfer = {
  entityId: string
  id: string
  blockchain: string
  blockHash: string
  blockNumber: number
  txHash: string
  logIndex: number
  /** The place among the items of one log. */
  position: number
  direction: 'in' | 'out'
  tokenAddress: string
  standard: string
  itemId: bigint | null
  fromAddress: string
  toAddress: string
  amount: bigint
  address: string
  walletId: string
  blockTime: string
}

/** Inserts the transfers of one block. */
export async function insertTokenTransfers(
  tx: Db,
  nowMs: number,
  rows: readonly Omit<ObservedTokenTransfer, 'id'>[],
): Promise<void> {
  const [first] = rows
  if (!first) return
  await tx.run(sql`insert into observed_token_transfers (blockchain, block_hash, block_number, block_time, entity_id, id,
      tx_hash, log_index, position, direction, token_address, standard, item_id, from_address, to_address, amount, address,
      wallet_id)
    select ${first.blockchain}, ${first.blockHash}, ${first.blockNumber}::bigint, ${first.blockTime}::timestamptz, row.*
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map(() => newId(nowMs))}::uuid[],
      ${rows.map((row) => row.txHash)}::text[], ${rows.map((row) => row.logIndex)}::integer[],
      ${rows.map((row) => row.position)}::integer[], ${rows.map((row) => row.direction)}::text[],
      ${rows.map((row) => row.tokenAddress)}::text[], ${rows.map((row) => row.standard)}::text[],
      ${rows.map((row) => row.itemId?.toString() ?? null)}::numeric[], ${rows.map((row) => row.fromAddress)}::text[],
      ${rows.map((row) => row.toAddress)}::text[], ${rows.map((row) => row.amount.toString())}::numeric[],
      ${rows.map((row) => row.address)}::text[], ${rows.map((row) => row.walletId)}::uuid[]) as row
    on conflict do nothing`)
}

/** The transfers of unlisted tokens in one block, in block order. */
export const observedTokenTransfersOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedTokenTransfer>(sql`select entity_id, id, blockchain, block_hash, block_number, tx_hash, log_index,
      position, direction, token_address, standard, item_id, from_address, to_address, amount, address, wallet_id,
      block_time
    from observed_token_transfers where blockchain = ${blockchain} and block_hash = ${blockHash}
    order by log_index, position, id`)

/** The ids of those transfers of a block that a risen balance covers. */
export const coveredIn = async (db: Db, blockchain: string, blockHash: string): Promise<Set<string>> =>
  new Set(
    (
      await db.all<{ id: string }>(sql`select id from observed_token_transfers
        where blockchain = ${blockchain} and block_hash = ${blockHash} and covered`)
    ).map(({ id }) => id),
  )

/** A wallet and a token, or an item of one. */
type WalletToken = {
  entityId: string
  address: string
  tokenAddress: string
  standard: string
  itemId: bigint | null
}

type UndecidedClaim = { place: number; entityId: string; id: string; amount: bigint }

/**
 * Incoming transfers in canonical blocks up to `blockNumber` that are undecided, in their order and at most `limit` of each
 * balance; `place` is that of the balance in `held`.
 */
export const undecidedClaims = (
  tx: Db,
  blockchain: string,
  held: readonly WalletToken[],
  blockNumber: number,
  limit: number,
) =>
  tx.all<UndecidedClaim>(sql`select n.k::int4 - 1 as place, c.entity_id, c.id, c.amount
    from unnest(${held.map((row) => row.entityId)}::uuid[], ${held.map((row) => row.address)}::text[],
      ${held.map((row) => row.tokenAddress)}::text[], ${held.map((row) => row.standard)}::text[],
      ${held.map((row) => row.itemId?.toString() ?? null)}::numeric[]) with ordinality as n(e, a, t, s, i, k)
    cross join lateral (select o.entity_id, o.id, o.amount, o.block_number, o.log_index, o.position
      from observed_token_transfers o
      join blocks b on b.blockchain = o.blockchain and b.hash = o.block_hash and b.canonical
      where o.entity_id = n.e and o.address = n.a and o.token_address = n.t and o.covered is null
        and o.direction = 'in' and o.amount > 0 and o.standard = n.s and o.item_id is not distinct from n.i
        and o.blockchain = ${blockchain} and o.block_number <= ${blockNumber}
      order by o.block_number, o.log_index, o.position, o.id limit ${limit}) c
    order by c.block_number, c.log_index, c.position, c.id`)

/** The log of a transfer, whatever number of items it moves. */
export type TransferOfLog = {
  entityId: string
  blockHash: string
  txHash: string
  logIndex: number
  tokenAddress: string
}

/** Decides these transfers by a comparison in that block; returns the logs of which every transfer is covered now. */
export async function decideClaims(
  tx: Db,
  blockHash: string,
  claims: readonly (UndecidedClaim & { covered: boolean })[],
): Promise<readonly TransferOfLog[]> {
  if (claims.length === 0) return []
  const [entityIds, ids] = [claims.map((row) => row.entityId), claims.map((row) => row.id)]
  // In one order for all workers: two that decide parts of one log would each miss what the other one decides.
  await tx.run(sql`select 1 from observed_token_transfers x
    join (select distinct o.entity_id, o.blockchain, o.block_hash, o.log_index
      from unnest(${entityIds}::uuid[], ${ids}::uuid[]) as n(e, i)
      join observed_token_transfers o on o.entity_id = n.e and o.id = n.i) l
      on l.entity_id = x.entity_id and l.blockchain = x.blockchain and l.block_hash = x.block_hash
        and l.log_index = x.log_index
    order by x.entity_id, x.id for no key update of x`)
  await tx.run(sql`update observed_token_transfers o set covered = n.c, decided_in = ${blockHash}
    from unnest(${entityIds}::uuid[], ${ids}::uuid[], ${claims.map((row) => row.covered)}::bool[]) as n(e, i, c)
    where o.entity_id = n.e and o.id = n.i`)
  return tx.all<TransferOfLog>(sql`select distinct o.entity_id, o.block_hash, o.tx_hash, o.log_index, o.token_address
    from unnest(${entityIds}::uuid[], ${ids}::uuid[]) as n(e, i)
    join observed_token_transfers o on o.entity_id = n.e and o.id = n.i
    where not exists (select 1 from observed_token_transfers x where x.entity_id = o.entity_id
      and x.blockchain = o.blockchain and x.block_hash = o.block_hash and x.log_index = o.log_index
      and x.direction = 'in' and x.amount > 0 and x.covered is not true)`)
}

/** Takes back what comparisons in an orphaned block decided: the same rise would prove further transfers otherwise. */
export const undecideClaims = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`update observed_token_transfers set covered = null, decided_in = null
    where blockchain = ${blockchain} and decided_in = ${blockHash}`)

import { newId } from '#lib/ids'
import { type Db, sql } from '#runtime/db/db'
import {
  bigint,
  integer,
  nullable,
  numeric,
  type RowOf,
  table,
  text,
  textOf,
  timestamptz,
  uuid,
} from '#runtime/db/table'
import { perEntity } from '#runtime/per-entity'

/** A transfer that the contract of an unlisted token claims, from the side of one wallet. */
export type ObservedTokenTransfer = RowOf<typeof tokenTransfers>

const tokenTransfers = table('observed_token_transfers', {
  entityId: uuid,
  id: uuid,
  blockchain: text,
  blockHash: text,
  blockNumber: bigint,
  txHash: text,
  logIndex: integer,
  /** The place among the items of one log. */
  position: integer,
  direction: textOf<'in' | 'out'>(),
  tokenAddress: text,
  standard: text,
  itemId: nullable(numeric),
  fromAddress: text,
  toAddress: text,
  amount: numeric,
  address: text,
  walletId: uuid,
  blockTime: timestamptz,
})

/** Inserts the transfers of one block. */
export async function insertTokenTransfers(
  tx: Db,
  nowMs: number,
  rows: readonly Omit<ObservedTokenTransfer, 'id'>[],
): Promise<void> {
  if (rows.length === 0) return
  const added = rows.map((row) => ({ ...row, id: newId(nowMs) }))
  await tx.run(sql`${tokenTransfers.insert(added)} on conflict do nothing`)
}

/** The transfers of unlisted tokens in one block, in block order. */
export const observedTokenTransfersOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedTokenTransfer>(sql`select ${tokenTransfers.columns()}
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
 * Incoming transfers in canonical blocks up to `blockNumber` that are undecided, those of each entity in their order and at most
 * `limit` of each balance; `place` is that of the balance in `held`.
 */
export const undecidedClaims = (
  tx: Db,
  blockchain: string,
  held: readonly WalletToken[],
  blockNumber: number,
  limit: number,
) =>
  perEntity(
    held.map((row, place) => ({ ...row, place })),
    (entityId, own) =>
      tx.all<UndecidedClaim>(sql`select n.k as place, c.entity_id, c.id, c.amount
        from unnest(${own.map((row) => row.place)}::int4[], ${own.map((row) => row.address)}::text[],
          ${own.map((row) => row.tokenAddress)}::text[], ${own.map((row) => row.standard)}::text[],
          ${own.map((row) => row.itemId?.toString() ?? null)}::numeric[]) as n(k, a, t, s, i)
        cross join lateral (select o.entity_id, o.id, o.amount, o.block_number, o.log_index, o.position
          from observed_token_transfers o
          join blocks b on b.blockchain = o.blockchain and b.hash = o.block_hash and b.canonical
          where o.entity_id = ${entityId} and o.address = n.a and o.token_address = n.t and o.covered is null
            and o.direction = 'in' and o.amount > 0 and o.standard = n.s and o.item_id is not distinct from n.i
            and o.blockchain = ${blockchain} and o.block_number <= ${blockNumber}
          order by o.block_number, o.log_index, o.position, o.id limit ${limit}) c
        order by c.block_number, c.log_index, c.position, c.id`),
  )

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
  return perEntity(claims, async (entityId, own) => {
    const decided = sql`unnest(${own.map((row) => row.id)}::uuid[]) as n(i)
      join observed_token_transfers o on o.entity_id = ${entityId} and o.id = n.i`
    // In one order for all workers: two that decide parts of one log would each miss what the other one decides.
    await tx.run(sql`select 1 from observed_token_transfers x
      join (select distinct o.blockchain, o.block_hash, o.log_index from ${decided}) l
        on l.blockchain = x.blockchain and l.block_hash = x.block_hash and l.log_index = x.log_index
      where x.entity_id = ${entityId} order by x.id for no key update of x`)
    await tx.run(sql`update observed_token_transfers o set covered = n.c, decided_in = ${blockHash}
      from unnest(${own.map((row) => row.id)}::uuid[], ${own.map((row) => row.covered)}::bool[]) as n(i, c)
      where o.entity_id = ${entityId} and o.id = n.i`)
    return tx.all<TransferOfLog>(sql`select distinct o.entity_id, o.block_hash, o.tx_hash, o.log_index, o.token_address
      from ${decided}
      where not exists (select 1 from observed_token_transfers x where x.entity_id = ${entityId}
        and x.blockchain = o.blockchain and x.block_hash = o.block_hash and x.log_index = o.log_index
        and x.direction = 'in' and x.amount > 0 and x.covered is not true)`)
  })
}

/** Takes back what comparisons in an orphaned block decided: the same rise would prove further transfers otherwise. */
export const undecideClaims = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`update observed_token_transfers set covered = null, decided_in = null
    where blockchain = ${blockchain} and decided_in = ${blockHash}`)

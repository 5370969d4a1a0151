import type { ManagedPurpose } from '#custody/wallets/index'
import { newId } from '#lib/ids'
import { type Db, sql } from '#runtime/db/db'
import {
  bigint,
  boolean,
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

/** A transfer from the side of one managed address: an `in` and an `out` row when both sides are managed. */
export type ObservedTransfer = RowOf<typeof transfers>

const transfers = table('observed_transfers', {
  entityId: uuid,
  id: uuid,
  blockchain: text,
  blockHash: text,
  blockNumber: bigint,
  txHash: text,
  /** How it was told: by the value of the transaction itself, by an operation that it executed, or by a log. */
  kind: textOf<'value' | 'operation' | 'log'>(),
  /** That of the log in its block; of an operation, that of the move in its transaction; 0 for a value. */
  position: integer,
  direction: textOf<'in' | 'out'>(),
  tokenId: uuid,
  fromAddress: text,
  toAddress: text,
  amount: numeric,
  address: text,
  purpose: textOf<ManagedPurpose>(),
  ownerId: uuid,
  blockTime: timestamptz,
})

/** A transaction that a managed address sent, with its outcome. */
export type ObservedTransaction = RowOf<typeof transactions>

const transactions = table('observed_transactions', {
  entityId: uuid,
  blockchain: text,
  blockHash: text,
  blockNumber: bigint,
  txHash: text,
  address: text,
  nonce: nullable(bigint),
  success: boolean,
  gasUsed: numeric,
  fee: numeric,
  blockTime: timestamptz,
})

/** Inserts the transfers of one block. */
export async function insertTransfers(
  tx: Db,
  nowMs: number,
  rows: readonly Omit<ObservedTransfer, 'id'>[],
): Promise<void> {
  if (rows.length === 0) return
  const added = rows.map((row) => ({ ...row, id: newId(nowMs) }))
  await tx.run(sql`${transfers.insert(added)} on conflict do nothing`)
}

export async function insertTransactions(tx: Db, rows: readonly ObservedTransaction[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`${transactions.insert(rows)} on conflict do nothing`)
}

/** Deletes the stored contents of a block that turned out false. No engine may still have to revert its changes from them. */
export async function deleteObserved(tx: Db, blockchain: string, blockHash: string): Promise<void> {
  await tx.run(
    sql`delete from observed_transfers where blockchain = ${blockchain} and block_hash = ${blockHash}`,
  )
  await tx.run(
    sql`delete from observed_token_transfers where blockchain = ${blockchain} and block_hash = ${blockHash}`,
  )
  await tx.run(
    sql`delete from observed_transactions where blockchain = ${blockchain} and block_hash = ${blockHash}`,
  )
}

/** The transfers of managed addresses in one block, in block order. */
export const observedTransfersOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedTransfer>(sql`select ${transfers.columns()}
    from observed_transfers where blockchain = ${blockchain} and block_hash = ${blockHash} order by kind, position, id`)

/** The transactions of managed senders in one block, with their outcomes. */
export const observedTransactionsOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedTransaction>(sql`select ${transactions.columns()}
    from observed_transactions where blockchain = ${blockchain} and block_hash = ${blockHash}`)

/** A nonce of a managed sender, and the transaction that used it. */
type UsedNonce = { entityId: string; address: string; nonce: number; txHash: string }

/** The transactions with nonces of managed senders in the canonical blocks of this range. */
export const canonicalTransactionsBetween = (
  db: Db,
  blockchain: string,
  fromNumber: number,
  toNumber: number,
) =>
  db.all<UsedNonce>(sql`select o.entity_id, o.address, o.nonce, o.tx_hash
    from blocks b join observed_transactions o on o.blockchain = b.blockchain and o.block_hash = b.hash
    where b.blockchain = ${blockchain} and b.number between ${fromNumber} and ${toNumber} and b.canonical
      and o.nonce is not null`)

/** The final transactions that used these nonces; a block that was pruned had been final. */
export const finalNonceUses = (
  db: Db,
  blockchain: string,
  finalTo: number,
  nonces: readonly { entityId: string; address: string; nonce: number }[],
) =>
  db.all<UsedNonce>(sql`select o.entity_id, o.address, o.nonce, o.tx_hash
    from unnest(${nonces.map((row) => row.entityId)}::uuid[], ${nonces.map((row) => row.address)}::text[],
      ${nonces.map((row) => row.nonce)}::int8[]) as n(e, a, k)
    join observed_transactions o on o.entity_id = n.e and o.blockchain = ${blockchain} and o.address = n.a and o.nonce = n.k
    left join blocks b on b.blockchain = o.blockchain and b.hash = o.block_hash
    where coalesce(b.canonical, true) and o.block_number <= ${finalTo}`)

/** Whether a final block has a transaction without a nonce of this entity; a block that was pruned had been final. */
export const isInFinalBlock = async (
  db: Db,
  blockchain: string,
  finalTo: number,
  { entityId, txHash }: { entityId: string; txHash: string },
): Promise<boolean> =>
  (await db.maybe<{ txHash: string }>(sql`select o.tx_hash from observed_transactions o
    left join blocks b on b.blockchain = o.blockchain and b.hash = o.block_hash
    where o.entity_id = ${entityId} and o.blockchain = ${blockchain} and o.tx_hash = ${txHash}
      and o.nonce is null and coalesce(b.canonical, true) and o.block_number <= ${finalTo} limit 1`)) !==
  undefined

/** A block that holds a transaction, whether it is canonical or not. */
export type HoldingBlock = {
  blockHash: string
  blockNumber: number
  txHash: string
  /** Absent where only a transfer to a managed address was observed. */
  address: string | null
  nonce: number | null
  success: boolean | null
}

/** The blocks that hold, or held, a transaction with one of these nonces: also one that this server did not sign. */
export const blocksOfNonces = (
  db: Db,
  entityId: string,
  blockchain: string,
  nonces: readonly { address: string; nonce: number }[],
) =>
  db.all<HoldingBlock>(sql`select o.block_hash, o.block_number, o.tx_hash, o.address, o.nonce, o.success
    from unnest(${nonces.map((row) => row.address)}::text[], ${nonces.map((row) => row.nonce)}::int8[]) as n(a, k)
    join observed_transactions o on o.entity_id = ${entityId} and o.blockchain = ${blockchain} and o.address = n.a
      and o.nonce = n.k
    order by o.block_number, o.block_hash`)

/** The blocks that hold, or held, one of these transactions without a nonce. */
export const blocksOfHashes = (
  db: Db,
  entityId: string,
  blockchain: string,
  sent: readonly { txHash: string; address: string; nonce: number }[],
) =>
  db.all<HoldingBlock>(sql`select o.block_hash, o.block_number, o.tx_hash, n.a as address, n.k as nonce, o.success
    from unnest(${sent.map((row) => row.txHash)}::text[], ${sent.map((row) => row.address)}::text[],
      ${sent.map((row) => row.nonce)}::int8[]) as n(h, a, k)
    join observed_transactions o on o.entity_id = ${entityId} and o.blockchain = ${blockchain} and o.tx_hash = n.h
      and o.nonce is null
    order by o.block_number, o.block_hash`)

/** The blocks that hold, or held, transfers of this transaction to or from managed addresses. */
export const blocksOfTransfers = (db: Db, entityId: string, blockchain: string, txHash: string) =>
  db.all<HoldingBlock>(sql`select distinct o.block_hash, o.block_number, o.tx_hash, null::text as address,
      null::int8 as nonce, null::boolean as success
    from observed_transfers o
    where o.entity_id = ${entityId} and o.tx_hash = ${txHash} and o.blockchain = ${blockchain}
    order by o.block_number, o.block_hash`)

import {
  type FailedTransaction,
  failedTransactions,
  type PlatformTransaction,
} from '#engines/failed-transactions'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

type UnifiedMovementKind =
  | 'deposited'
  | 'withdrawalInitiated'
  | 'withdrawalCompleted'
  | 'burned'
  | 'paid'
  | 'received'

/** The place of a log. */
export type LogPlace = {
  blockchain: string
  blockHash: string
  blockNumber: number
  blockTime: string
  txHash: string
  logIndex: number
}

export type UnifiedMovement = LogPlace & {
  kind: UnifiedMovementKind
  depositor: string
  amountAtomic: bigint
  feeAtomic: bigint
  fromWithdrawingAtomic: bigint
  specHash: string | null
  /** The account whose coins a deposit took, where it is not the depositor. */
  sender: string | null
  /** The amount by which it changed the balance; null while it waits for finality, or for its sender to be cleared. */
  countedAtomic: bigint | null
}

const columns = sql`blockchain, block_hash, block_number, block_time, tx_hash, log_index, kind, depositor,
  amount as amount_atomic, fee as fee_atomic, from_withdrawing as from_withdrawing_atomic, spec_hash, sender,
  counted as counted_atomic`

export const insertMovement = (tx: Db, row: UnifiedMovement) =>
  tx.run(sql`insert into unified_movements (blockchain, block_hash, log_index, block_number, block_time, tx_hash, kind,
      depositor, amount, fee, from_withdrawing, spec_hash, sender, counted)
    values (${row.blockchain}, ${row.blockHash}, ${row.logIndex}, ${row.blockNumber}, ${row.blockTime}, ${row.txHash},
      ${row.kind}, ${row.depositor}, ${row.amountAtomic}, ${row.feeAtomic}, ${row.fromWithdrawingAtomic}, ${row.specHash},
      ${row.sender}, ${row.countedAtomic})`)

/** The movements up to this block that wait for finality, in block order. */
export const waitingMovements = (tx: Db, blockchain: string, finalTo: number) =>
  tx.all<UnifiedMovement>(sql`select ${columns} from unified_movements where blockchain = ${blockchain} and counted is null
    and held_date is null and block_number <= ${finalTo} order by block_number, log_index`)

/** The deposits that screening held longest ago. */
export const heldDeposits = (tx: Db, blockchain: string, limit: number) =>
  tx.all<UnifiedMovement>(sql`select ${columns} from unified_movements where blockchain = ${blockchain} and counted is null
    and held_date is not null order by held_date, block_number, log_index limit ${limit}`)

/** Holds a deposit; whether it was not held before. */
export const holdDeposit = async (
  tx: Db,
  nowMs: number,
  { blockchain, blockHash, logIndex }: LogPlace,
): Promise<boolean> =>
  (
    await tx.one<{ isNew: boolean }>(sql`update unified_movements m set held_date = ${formatInstant(nowMs)}
      from unified_movements b where m.blockchain = ${blockchain} and m.block_hash = ${blockHash}
        and m.log_index = ${logIndex} and b.blockchain = m.blockchain and b.block_hash = m.block_hash
        and b.log_index = m.log_index
      returning b.held_date is null as is_new`)
  ).isNew

export const setCounted = (tx: Db, { blockchain, blockHash, logIndex }: LogPlace, atomic: bigint) =>
  tx.run(sql`update unified_movements set counted = ${atomic} where blockchain = ${blockchain}
    and block_hash = ${blockHash} and log_index = ${logIndex}`)

/** The number of a deposit among those of its transaction for the same depositor. */
export const depositNumber = async (
  tx: Db,
  { blockchain, blockHash, txHash, logIndex, depositor }: UnifiedMovement,
): Promise<number> =>
  (
    await tx.one<{ before: number }>(sql`select count(*)::integer as before from unified_movements
      where blockchain = ${blockchain} and block_hash = ${blockHash} and tx_hash = ${txHash} and depositor = ${depositor}
        and kind = 'deposited' and log_index < ${logIndex}`)
  ).before

/** Deletes and returns the movements of an orphaned block. */
export const takeMovements = (tx: Db, blockchain: string, blockHash: string) =>
  tx.all<UnifiedMovement>(sql`delete from unified_movements where blockchain = ${blockchain} and block_hash = ${blockHash}
    returning ${columns}`)

const pendingMax = 1_000

/** Deposits of these depositors that are not final yet, or held, newest first. */
export const pendingDeposits = (db: Db, depositors: readonly string[], blockchains: readonly string[]) =>
  db.all<UnifiedMovement>(sql`select ${columns} from unified_movements where kind = 'deposited' and counted is null
    and depositor = any(${depositors}::text[]) and blockchain = any(${blockchains}::text[])
    order by block_time desc, blockchain, log_index desc limit ${pendingMax}`)

type Delegation = LogPlace & { depositor: string; delegate: string; added: boolean }

export const insertDelegation = (tx: Db, row: Delegation) =>
  tx.run(sql`insert into unified_delegations (blockchain, block_hash, log_index, block_number, depositor, delegate, added)
    values (${row.blockchain}, ${row.blockHash}, ${row.logIndex}, ${row.blockNumber}, ${row.depositor}, ${row.delegate},
      ${row.added})`)

export const deleteDelegations = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`delete from unified_delegations where blockchain = ${blockchain} and block_hash = ${blockHash}`)

/** Whether `delegate` may sign for a depositor: an addition counts when it is final, a removal as soon as it is seen. */
export async function isDelegate(
  db: Db,
  { blockchain, depositor, delegate }: { blockchain: string; depositor: string; delegate: string },
): Promise<boolean> {
  const last = await db.maybe<{ added: boolean }>(sql`select added from unified_delegations
    where blockchain = ${blockchain} and depositor = ${depositor} and delegate = ${delegate}
      and (not added or block_number <= (select final from unified_heights where blockchain = ${blockchain}))
    order by block_number desc, log_index desc limit 1`)
  return last?.added ?? false
}

type Heights = { blockchain: string; followed: number; final: number }

export const setHeights = (tx: Db, { blockchain, followed, final }: Heights) =>
  tx.run(sql`insert into unified_heights (blockchain, followed, final) values (${blockchain}, ${followed}, ${final})
    on conflict (blockchain) do update set followed = excluded.followed, final = excluded.final`)

export const listHeights = (db: Db) =>
  db.all<Heights>(sql`select blockchain, followed, final from unified_heights`)

/** Returns the transactions that ended without effect among those given, in a final block or in none, by their ids. */
export async function finallyFailed(
  db: Db,
  blockchain: string,
  sent: readonly PlatformTransaction[],
): Promise<ReadonlyMap<string, FailedTransaction>> {
  if (sent.length === 0) return new Map()
  const heights = await db.maybe<Pick<Heights, 'final'>>(
    sql`select final from unified_heights where blockchain = ${blockchain}`,
  )
  return failedTransactions(db, sent, heights?.final ?? -1)
}

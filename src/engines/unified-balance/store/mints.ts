import { type Db, sql } from '#runtime/db/db'
import type { LogPlace } from './movements.ts'

type SeenMint = LogPlace & { specHash: string; amountAtomic: bigint }

export const insertMint = (tx: Db, row: SeenMint) =>
  tx.run(sql`insert into unified_mints (blockchain, block_hash, log_index, block_number, tx_hash, spec_hash, amount)
    values (${row.blockchain}, ${row.blockHash}, ${row.logIndex}, ${row.blockNumber}, ${row.txHash}, ${row.specHash},
      ${row.amountAtomic})`)

/** Deletes the mints of an orphaned block; returns the hashes of their transfers. */
export const takeMints = async (tx: Db, blockchain: string, blockHash: string): Promise<string[]> => {
  const rows = await tx.all<{ specHash: string }>(sql`delete from unified_mints
    where blockchain = ${blockchain} and block_hash = ${blockHash} returning spec_hash`)
  return rows.map(({ specHash }) => specHash)
}

/** Marks the mints up to this block as final; returns the hashes of their transfers. */
export const finishMints = async (tx: Db, blockchain: string, finalTo: number): Promise<string[]> => {
  const rows = await tx.all<{ specHash: string }>(sql`update unified_mints set final = true
    where blockchain = ${blockchain} and not final and block_number <= ${finalTo} returning spec_hash`)
  return rows.map(({ specHash }) => specHash)
}

type MintProgress = {
  id: string
  state: string
  /** The transaction that minted the whole transfer; null until then. */
  txHash: string | null
  isFinal: boolean
}

/** Locks the transfers of these specifications to their destination, and returns how much of each was minted. */
export const lockMinted = (tx: Db, blockchain: string, specHashes: readonly string[]) =>
  tx.all<MintProgress>(sql`select t.id, t.state,
      (select max(m.tx_hash) from unified_intents i
        left join unified_mints m on m.spec_hash = i.spec_hash and m.blockchain = t.blockchain
        where i.transfer_id = t.id having bool_and(m.tx_hash is not null)) as tx_hash,
      coalesce((select bool_and(coalesce(m.final, false)) from unified_intents i
        left join unified_mints m on m.spec_hash = i.spec_hash and m.blockchain = t.blockchain
        where i.transfer_id = t.id), false) as is_final
    from unified_transfers t
    where t.blockchain = ${blockchain}
      and t.id in (select transfer_id from unified_intents where spec_hash = any(${specHashes}::text[]))
    order by t.id for update of t`)

import { type Db, sql } from '#runtime/db/db'
import { intentsOf, type StoredIntent, type UnifiedTransfer } from './transfers.ts'

type TransferRecord = Pick<
  UnifiedTransfer,
  'state' | 'blockchain' | 'valueAtomic' | 'expirationBlock' | 'forwarded' | 'failureReason' | 'forwardDelay'
> & {
  /** The treasury's transaction that mints it, and the entity that pays. */
  forwardId: string | null
  forwardEntityId: string | null
  forwardFeeAtomic: bigint | null
}

/** The burn of the intents that were signed together on one source. */
type RecordedBurn = {
  entry: number
  blockchain: string
  state: 'waiting' | 'sent' | 'done'
  /** The treasury's transaction that carries it, and the entity that pays. */
  batchId: string | null
  payerEntityId: string | null
  failures: number
  /** In business time. */
  dueAt: string
}

export type TransferHistory = TransferRecord & {
  intents: readonly StoredIntent[]
  burns: readonly RecordedBurn[]
}

/** Reads the records of a transfer; undefined where there is none with this id. */
export async function findTransferHistory(db: Db, id: string): Promise<TransferHistory | undefined> {
  const transfer = await db.maybe<TransferRecord>(sql`select state, blockchain, value as value_atomic,
      expiration_block, forwarded, failure_reason, forward_delay, forward_id, forward_entity_id,
      forward_fee as forward_fee_atomic
    from unified_transfers where id = ${id}`)
  if (!transfer) return undefined
  const burns =
    await db.all<RecordedBurn>(sql`select entry, blockchain, state, batch_id, payer_entity_id, failures, due_at
    from unified_burns where transfer_id = ${id} order by entry, blockchain`)
  return { ...transfer, intents: await intentsOf(db, id), burns }
}

/** The transfer movements of an entity of whose intents a block shows a burn in this transaction. */
export async function transfersBurnedBy(
  db: Db,
  entityId: string,
  { blockchain, blockHashes, txHash }: { blockchain: string; blockHashes: readonly string[]; txHash: string },
): Promise<{ id: string }[]> {
  const burned = await db.all<{ id: string }>(sql`select distinct i.transfer_id as id from unified_movements m
      join unified_intents i on i.spec_hash = m.spec_hash
    where m.blockchain = ${blockchain} and m.block_hash = any(${blockHashes}::text[]) and m.tx_hash = ${txHash}`)
  if (burned.length === 0) return []
  return db.all<{ id: string }>(sql`select id from entity_unified_transfers
    where entity_id = ${entityId} and id = any(${burned.map(({ id }) => id)}::uuid[]) order by id limit 20`)
}

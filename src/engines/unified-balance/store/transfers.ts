import { formatInstant } from '#lib/time'
import { type Db, jsonOf, sql } from '#runtime/db/db'
import { setEntityTransferState } from './entity-transfers.ts'

type UnifiedTransferState = 'pending' | 'confirmed' | 'finalized' | 'failed' | 'expired'

/** Fees as they are shown: decimal strings. */
export type ShownFees = {
  total: string
  token: string
  perIntent: { transferSpecHash: string; domain: number; baseFee: string; transferFee?: string }[]
  forwardingFee?: string
}

export type UnifiedTransfer = {
  id: string
  fingerprint: Buffer
  state: UnifiedTransferState
  /** The destination. */
  blockchain: string
  payload: Buffer
  signature: Buffer
  expirationBlock: number
  fees: ShownFees
  valueAtomic: bigint
  forwarded: boolean
  failureReason: string | null
  /** Why its mint waits. */
  forwardDelay: string | null
  mintTxHash: string | null
  createDate: string
}

type NewUnifiedTransfer = Omit<
  UnifiedTransfer,
  'state' | 'signature' | 'failureReason' | 'forwardDelay' | 'mintTxHash'
>

/** The gas of a mint that this server makes, and the fee for it. */
type Forward = { gas: bigint; feeAtomic: bigint }

const columns = sql`id, fingerprint, state, blockchain, payload, signature, expiration_block, fees, value as value_atomic,
  forwarded, failure_reason, forward_delay, mint_tx_hash, create_date`

/** Signed content of one signature, in hexadecimal digits; with its digest where a contract signed. */
type SignedIntentRow = { entry: number; intents: string; signature: string; digest: string | null }

type Intent = {
  specHash: string
  transferId: string
  entry: number
  position: number
  blockchain: string
  depositor: string
  valueAtomic: bigint
  feeAtomic: bigint
  maxFeeAtomic: bigint
  maxBlockHeight: bigint
}

/**
 * Inserts a transfer with what its depositors signed, and its reservations. `fresh` is the number of reservations that are new;
 * `undefined` when a transfer of this fingerprint exists, also when another `tx` commits it meanwhile. Reservations are inserted
 * in the order of their hashes, so that two requests never deadlock.
 */
export const insertTransfer = (
  tx: Db,
  row: NewUnifiedTransfer & { forward: Forward | undefined },
  signed: readonly SignedIntentRow[],
  intents: readonly Omit<Intent, 'transferId'>[],
) =>
  tx.maybe<{ fresh: number }>(sql`with made as (
      insert into unified_transfers (id, fingerprint, state, blockchain, payload, expiration_block, fees, value, forwarded,
        forward_gas, forward_fee, create_date, update_date)
      values (${row.id}, ${row.fingerprint}, 'pending', ${row.blockchain}, ${row.payload},
        ${row.expirationBlock}, ${JSON.stringify(row.fees)}::json, ${row.valueAtomic}, ${row.forwarded},
        ${row.forward?.gas ?? null}, ${row.forward?.feeAtomic ?? null}, ${row.createDate}, ${row.createDate})
      on conflict (fingerprint) do nothing returning id),
    signed as (insert into unified_signed_intents (transfer_id, entry, intents, signature, digest)
      select made.id, entry, decode(substr(intents, 3), 'hex'), decode(substr(signature, 3), 'hex'),
        decode(substr(digest, 3), 'hex')
      from made, jsonb_to_recordset(${jsonOf(signed)}::jsonb)
        as row(entry integer, intents text, signature text, digest text)),
    reserved as (insert into unified_intents (spec_hash, transfer_id, entry, position, blockchain, depositor, value, fee,
        max_fee, max_block_height)
      select spec_hash, made.id, entry, position, blockchain, depositor, value_atomic, fee_atomic, max_fee_atomic,
        max_block_height
      from made, jsonb_to_recordset(${jsonOf(intents)}::jsonb) as row(spec_hash text, entry integer, position integer,
        blockchain text, depositor text, value_atomic numeric, fee_atomic numeric, max_fee_atomic numeric,
        max_block_height numeric)
      order by spec_hash on conflict (spec_hash) do nothing returning 1)
    select (select count(*)::integer from reserved) as fresh from made`)

/** The limit of the value that is attested for a chain within an hour. */
export type HourlyLimit = { blockchain: string; hour: string; maxAtomic: bigint }

/**
 * Stores the signature of a transfer and counts its value against the limit of its hour; `false` when that is reached. All transfers
 * to a chain wait for each other from here until their `tx` ends.
 */
export const setTransferSignature = async (
  tx: Db,
  { id, valueAtomic }: Pick<UnifiedTransfer, 'id' | 'valueAtomic'>,
  signature: Buffer,
  { blockchain, hour, maxAtomic }: HourlyLimit,
): Promise<boolean> =>
  (await tx.run(sql`with counted as (insert into unified_hours as h (blockchain, hour, value)
      select ${blockchain}, ${hour}::timestamptz, ${valueAtomic}::numeric where ${valueAtomic}::numeric <= ${maxAtomic}::numeric
      on conflict (blockchain, hour) do update set value = h.value + excluded.value
      where h.value + excluded.value <= ${maxAtomic}::numeric returning 1)
    update unified_transfers set signature = ${signature} where id = ${id} and exists (select 1 from counted)`)) ===
  1

export const findUnifiedTransfer = (db: Db, id: string) =>
  db.maybe<UnifiedTransfer>(sql`select ${columns} from unified_transfers where id = ${id}`)

export const findTransferOf = (db: Db, fingerprint: Buffer) =>
  db.maybe<UnifiedTransfer>(sql`select ${columns} from unified_transfers where fingerprint = ${fingerprint}`)

type SignedIntents = { transferId: string; entry: number; intents: Buffer; signature: Buffer }

type ReservationState = 'reserved' | 'returned' | 'burned'

const intentColumns = sql`spec_hash, transfer_id, entry, position, blockchain, depositor, value as value_atomic,
  fee as fee_atomic, max_fee as max_fee_atomic, max_block_height, state`

export type StoredIntent = Intent & { state: ReservationState }

export const intentsOf = (db: Db, transferId: string) =>
  db.all<StoredIntent>(
    sql`select ${intentColumns} from unified_intents where transfer_id = ${transferId} order by position`,
  )

export const findIntent = (db: Db, specHash: string) =>
  db.maybe<StoredIntent>(sql`select ${intentColumns} from unified_intents where spec_hash = ${specHash}`)

export const lockIntents = (tx: Db, specHashes: readonly string[]) =>
  tx.all<StoredIntent>(sql`select ${intentColumns} from unified_intents where spec_hash = any(${specHashes}::text[])
    order by spec_hash for update`)

export const setIntentStates = (tx: Db, specHashes: readonly string[], state: ReservationState) =>
  tx.run(sql`update unified_intents set state = ${state} where spec_hash = any(${specHashes}::text[])`)

/** Sets the state of transfers, and of the movements of entities that they are. */
export async function setTransferState(
  tx: Db,
  nowMs: number,
  ids: readonly string[],
  state: UnifiedTransferState,
  mintTxHash: string | null,
): Promise<void> {
  if (ids.length === 0) return
  const updateDate = formatInstant(nowMs)
  await tx.run(sql`update unified_transfers set state = ${state}, mint_tx_hash = ${mintTxHash},
    update_date = ${updateDate} where id = any(${ids}::uuid[])`)
  await setEntityTransferState(tx, ids, { state, mintTxHash, updateDate })
}

/** Locks and returns the transfers that no block up to `finalTo` minted although it was the last chance. */
export const lockExpired = (tx: Db, blockchain: string, finalTo: number) =>
  tx.all<{
    id: string
  }>(sql`select t.id from unified_transfers t where t.blockchain = ${blockchain} and t.state = 'pending'
    and t.expiration_block < ${finalTo}
    and not exists (select 1 from unified_intents i join unified_mints m on m.spec_hash = i.spec_hash
      where i.transfer_id = t.id and m.blockchain = t.blockchain)
    and not exists (select 1 from unified_burns b where b.transfer_id = t.id)
    order by t.id for update`)

/** Returns the reservations of expired transfers. */
export const returnIntents = (tx: Db, transferIds: readonly string[]) =>
  tx.all<StoredIntent>(sql`update unified_intents set state = 'returned' where transfer_id = any(${transferIds}::uuid[])
    and state = 'reserved' returning ${intentColumns}`)

/** The signed bytes of a transfer, in their order. */
export const signedIntentsOf = (db: Db, transferId: string) =>
  db.all<SignedIntents>(sql`select transfer_id, entry, intents, signature from unified_signed_intents
    where transfer_id = ${transferId} order by entry`)

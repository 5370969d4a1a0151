import { type Db, sql } from '#runtime/db/db'
import type { DelayReason } from './messages.ts'

/** A message as its records are. Amounts are base units of the token; dates ending in `At` are in the time of the database. */
export type MessageRecord = {
  nonce: string
  blockchain: string
  destinationDomain: bigint
  amountAtomic: bigint
  fast: boolean
  delayReason: DelayReason | null
  reattest: boolean
  attestedMessage: string | null
  attestation: string | null
  digest: string | null
  finalityThreshold: number | null
  expirationBlock: bigint | null
  attestedAt: string | null
  forwardId: string | null
  forwardEntityId: string | null
  forwardFeeAtomic: bigint | null
  forwardFailure: string | null
  forwardDelay: string | null
  bookedLossAtomic: bigint
}

export const findMessageRecord = (db: Db, id: string) =>
  db.maybe<MessageRecord>(sql`select nonce, blockchain, destination_domain, coalesce(amount, 0) as amount_atomic, fast,
      delay_reason, reattest, attested_message, attestation, digest, finality_threshold, expiration_block,
      coalesce(attested_at, attested_date) as attested_at, forward_id, forward_entity_id,
      forward_fee as forward_fee_atomic, forward_failure, forward_delay, booked_loss as booked_loss_atomic
    from messages where id = ${id}`)

/** An attester that was asked to sign a proposal. */
export type AskedAttester = {
  attester: string
  signed: boolean
  tries: number
  /** When it is asked again, or was asked when it signed; in the time of the database. */
  askDate: string
}

/** The attesters that were asked to sign the proposal of a message, while it waits for them. */
export const askedAttesters = (db: Db, messageId: string) =>
  db.all<AskedAttester>(sql`select attester, signature is not null as signed, tries, ask_date from message_signatures
    where message_id = ${messageId} order by attester`)

/** The message movements of an entity whose delivery a block shows in this transaction. */
export async function messagesDeliveredBy(
  db: Db,
  entityId: string,
  { blockchain, blockHashes, txHash }: { blockchain: string; blockHashes: readonly string[]; txHash: string },
): Promise<{ id: string }[]> {
  const delivered = await db.all<{ id: string }>(sql`select id from messages
    where received_blockchain = ${blockchain} and received_block_hash = any(${blockHashes}::text[])
      and received_tx_hash = ${txHash}`)
  if (delivered.length === 0) return []
  return db.all<{ id: string }>(sql`select id from entity_messages
    where entity_id = ${entityId} and id = any(${delivered.map(({ id }) => id)}::uuid[]) order by id limit 20`)
}

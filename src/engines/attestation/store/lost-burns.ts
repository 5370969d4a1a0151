import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { followMessages } from './entity-messages.ts'

/** An attested burn whose block is gone; amounts are base units of the token. */
export type LostBurn = {
  nonce: string
  blockchain: string
  txHash: string
  /** As it was emitted: it names the token. */
  message: string
  amountAtomic: bigint
  /** The transaction that delivered it; null while none did, as far as this server knows. */
  mintTxHash: string | null
  attestedDate: string
}

const columns = sql`nonce, blockchain, tx_hash, message, lost_amount as amount_atomic, received_tx_hash as mint_tx_hash,
  attested_date`

/** Whether a chain lost burns that were attested; nothing of it is attested before it is final as long as it is so. */
export const hasLostBurns = async (db: Db, blockchain: string): Promise<boolean> =>
  (await db.maybe(
    sql`select 1 from messages where blockchain = ${blockchain} and lost_amount > 0 limit 1`,
  )) !== undefined

/** The lost burns of all chains that are not booked, oldest first. */
export const lostBurns = (db: Db, limit: number) =>
  db.all<LostBurn>(
    sql`select ${columns} from messages where lost_amount > 0 order by attested_date, id limit ${limit}`,
  )

export const findLostBurn = (db: Db, nonce: string) =>
  db.maybe<LostBurn>(sql`select ${columns} from messages where nonce = ${nonce} and lost_amount > 0`)

type BookedBy = { actor: string; reason: string; nowMs: number }

/** Books a lost burn and returns its part of the allowance; `undefined` where no lost burn has this nonce. */
export async function setBooked(
  tx: Db,
  environment: string,
  nonce: string,
  { actor, reason, nowMs }: BookedBy,
): Promise<LostBurn | undefined> {
  const booked = await tx.maybe<LostBurn>(sql`with lost as materialized (
      select id, ${columns}, least(allowance_taken, lost_amount) as taken from messages
      where nonce = ${nonce} and lost_amount > 0 for update),
    booked as (update messages m set booked_loss = m.booked_loss + m.lost_amount, lost_amount = 0,
        allowance_taken = m.allowance_taken - lost.taken, loss_booked_by = ${actor}, loss_booked_reason = ${reason},
        loss_booked_date = ${formatInstant(nowMs)}
      from lost where m.id = lost.id returning 1),
    released as (update fast_allowances set used = greatest(used - (select taken from lost), 0)
      where environment = ${environment} and exists (select 1 from lost))
    select nonce, blockchain, tx_hash, message, amount_atomic, mint_tx_hash, attested_date from lost`)
  await followMessages(tx, [nonce])
  return booked
}

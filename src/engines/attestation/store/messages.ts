import { failedTransactions, type PlatformTransaction } from '#engines/failed-transactions'
import { formatInstant } from '#lib/time'
import { type Db, jsonOf, sql } from '#runtime/db/db'
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
import { followMessages, removeEntityMessages } from './entity-messages.ts'

/** The channel that announces messages to attest on a chain. */
export const messageChannel = 'messages'

export type DelayReason = 'insufficient_fee' | 'amount_above_max' | 'insufficient_allowance_available'

/** The fields of a message as it was emitted. Amounts are base units of the token. */
const emitted = {
  id: uuid,
  blockchain: text,
  domain: integer,
  txHash: text,
  /** The place among the messages of its transaction. */
  ordinal: integer,
  nonce: text,
  /** Null while no block of the chain has the message. */
  blockHash: nullable(text),
  blockNumber: nullable(bigint),
  logIndex: integer,
  /** As it was emitted. */
  message: text,
  destinationDomain: bigint,
  /** Null of a message that another contract sent than the token messenger. */
  amount: nullable(numeric),
  maxFee: nullable(numeric),
  fast: boolean,
  /** Whether this server is asked to deliver it. */
  forwards: boolean,
  /** Whether the executor of the destination delivers it, and uses what is minted. */
  executes: boolean,
  /** Whether the contract that burned took the fees beforehand. */
  prepaid: boolean,
  state: textOf<'pending' | 'complete'>(),
}

const newMessages = table('messages', { ...emitted, createDate: timestamptz })

const messages = table('messages', {
  ...emitted,
  delayReason: nullable(textOf<DelayReason>()),
  reattest: boolean,
  attestedMessage: nullable(text),
  attestation: nullable(text),
  /** The finality that the attestation names. */
  finalityThreshold: nullable(integer),
  allowanceTaken: numeric,
  receivedTxHash: nullable(text),
  forwardFee: nullable(numeric),
  forwardFailure: nullable(text),
  /** Why the delivery waits. */
  forwardDelay: nullable(text),
})

export type MessageRow = RowOf<typeof messages>

/** A message that a contract sent. */
export type NewMessage = Omit<
  RowOf<typeof newMessages>,
  'state' | 'createDate' | 'blockHash' | 'blockNumber'
> & {
  blockHash: string
  blockNumber: number
}

/** A message with its empty fields filled in, and what was decided for it. */
export type FilledMessage = {
  id: string
  attestedMessage: string
  digest: string
  finalityThreshold: number
  /** Null where the message does not pay for its delivery. */
  forwardFeeAtomic: bigint | null
  expirationBlock: bigint
}

export type AttestedMessage = FilledMessage & { attestation: string }

const columns = messages.columns()

/**
 * Inserts the messages of a block. One that is mined again gets its new block, and keeps its nonce and its attestation; one that
 * says something else now is attested again, so that of both one can be delivered. What was attested before stays lost then.
 */
export async function insertMessages(tx: Db, rows: readonly NewMessage[], nowMs: number): Promise<void> {
  const added = rows.map((row) => ({ ...row, state: 'pending' as const, createDate: formatInstant(nowMs) }))
  await tx.run(sql`${newMessages.insert(added, 'm')}
    on conflict (blockchain, tx_hash, ordinal) do update set block_hash = excluded.block_hash,
      block_number = excluded.block_number, log_index = excluded.log_index, message = excluded.message,
      destination_domain = excluded.destination_domain, amount = excluded.amount, max_fee = excluded.max_fee,
      fast = excluded.fast, forwards = excluded.forwards, executes = excluded.executes, prepaid = excluded.prepaid,
      lost_amount = case when m.message = excluded.message then 0 else m.lost_amount end,
      reattest = m.reattest or (m.state = 'complete' and m.message <> excluded.message)`)
  await followMessages(
    tx,
    rows.map(({ nonce }) => nonce),
  )
}

/**
 * Takes back the messages of an orphaned block with their proposals: those that are not attested vanish, and return what they
 * took of the allowance. The others are lost until they are mined again, and stay charged against the allowance, or are charged
 * again where their block was final before. Returns their nonces.
 */
export async function orphanMessages(
  tx: Db,
  environment: string,
  blockchain: string,
  blockHash: string,
): Promise<string[]> {
  const gone = await tx.all<{ id: string }>(sql`with gone as (
      delete from messages where blockchain = ${blockchain} and block_hash = ${blockHash} and state = 'pending'
      returning id, allowance_taken as amount),
    returned as (update fast_allowances set used = used - (select sum(amount) from gone)
      where environment = ${environment} and exists (select 1 from gone where amount > 0))
    select id from gone`)
  await removeEntityMessages(
    tx,
    gone.map(({ id }) => id),
  )
  await tx.run(sql`delete from message_proposals p using messages m where m.id = p.message_id
    and m.blockchain = ${blockchain} and m.block_hash = ${blockHash}`)
  const kept = await tx.all<{ nonce: string }>(sql`with orphaned as materialized (
      select id, coalesce(amount, 0) as amount, allowance_taken as taken from messages
      where blockchain = ${blockchain} and block_hash = ${blockHash} for update),
    kept as (update messages m set block_hash = null, block_number = null,
        lost_amount = greatest(m.lost_amount, o.amount), allowance_taken = greatest(o.taken, o.amount)
      from orphaned o where m.id = o.id returning m.nonce, greatest(o.amount - o.taken, 0) as charged),
    charged as (update fast_allowances set used = used + (select sum(charged) from kept)
      where environment = ${environment} and exists (select 1 from kept where charged > 0))
    select nonce from kept`)
  const nonces = kept.map(({ nonce }) => nonce)
  await followMessages(tx, nonces)
  return nonces
}

/** Records deliveries that a block of the destination shows. */
export async function markReceived(
  tx: Db,
  {
    blockchain,
    blockHash,
    blockNumber,
    domain,
    nonce,
    txHash,
    receivedDate,
  }: {
    blockchain: string
    blockHash: string
    blockNumber: number
    /** The source of the message. */
    domain: number
    nonce: string
    txHash: string
    receivedDate: string
  },
): Promise<void> {
  await tx.run(sql`update messages set received_blockchain = ${blockchain}, received_block_hash = ${blockHash},
      received_block_number = ${blockNumber}, received_tx_hash = ${txHash}, received_date = ${receivedDate}
    where nonce = ${nonce} and domain = ${domain}`)
  await followMessages(tx, [nonce])
}

export async function unmarkReceived(tx: Db, blockchain: string, blockHash: string): Promise<void> {
  const rows = await tx.all<{
    nonce: string
  }>(sql`update messages set received_blockchain = null, received_block_hash = null,
      received_block_number = null, received_tx_hash = null, received_date = null
    where received_blockchain = ${blockchain} and received_block_hash = ${blockHash} returning nonce`)
  await followMessages(
    tx,
    rows.map(({ nonce }) => nonce),
  )
}

export type MessageHeights = { followed: number; final: number }

/**
 * Records how far a chain was followed, and gives back the allowance of messages whose blocks are final now, except for what was
 * attested in a block that is gone.
 */
export const setMessageHeights = (
  tx: Db,
  environment: string,
  blockchain: string,
  { followed, final }: MessageHeights,
) =>
  tx.run(sql`with heights as (insert into message_heights (blockchain, followed, final)
      values (${blockchain}, ${followed}, ${final})
      on conflict (blockchain) do update set followed = excluded.followed, final = excluded.final),
    held as materialized (
      select id, allowance_taken - lost_amount as amount from messages
      where blockchain = ${blockchain} and allowance_taken > 0 and allowance_taken > lost_amount and block_number <= ${final}
      for update),
    released as (update messages m set allowance_taken = lost_amount from held where m.id = held.id returning held.amount)
    update fast_allowances set used = used - (select sum(amount) from released)
    where environment = ${environment} and exists (select 1 from released)`)

export const findMessageHeights = (db: Db, blockchain: string) =>
  db.maybe<MessageHeights>(sql`select followed, final from message_heights where blockchain = ${blockchain}`)

const waits = (blockchain: string) =>
  sql`exists (select 1 from messages where blockchain = ${blockchain} and (state = 'pending' or reattest))`

/** Announces messages that wait to be attested, if there are any. */
export const announceMessages = (tx: Db, blockchain: string) =>
  tx.run(sql`select pg_notify(${messageChannel}, ${blockchain}) where ${waits(blockchain)}`)

/** The heights of a chain of which a message waits to be attested, now or later; `undefined` where none does. */
export const heightsOfWaiting = (db: Db, blockchain: string) =>
  db.maybe<MessageHeights>(sql`select followed, final from message_heights
    where blockchain = ${blockchain} and ${waits(blockchain)}`)

const asksFast = sql`fast and delay_reason is null and not reattest`

const isUndecided = sql`not exists (select 1 from message_proposals p where p.message_id = messages.id)`

/** The blocks of messages that wait for a fast attestation, lowest first. */
export const fastBlocks = (
  db: Db,
  blockchain: string,
  { from, to, limit }: { from: number; to: number; limit: number },
) =>
  db.all<{ number: number; hash: string }>(sql`select distinct block_number as number, block_hash as hash
    from messages where blockchain = ${blockchain} and state = 'pending' and ${asksFast}
      and ${isUndecided} and block_number between ${from} and ${to}
    order by block_number limit ${limit}`)

/**
 * Claims messages that can be attested, oldest first, until the `tx` ends: those of final blocks, and those that ask for a
 * fast attestation in the blocks with these hashes. Those that wait for signatures of other attesters are left out.
 */
export const claimMessages = (
  tx: Db,
  blockchain: string,
  { final, agreed, limit }: { final: number; agreed: readonly string[]; limit: number },
) =>
  tx.all<MessageRow>(sql`select ${columns} from messages where blockchain = ${blockchain}
      and (state = 'pending' or reattest) and block_number is not null and ${isUndecided}
      and (block_number <= ${final}
        or (${asksFast} and block_hash = any(${agreed}::text[])))
    order by create_date, id limit ${limit} for update skip locked`)

export const setDelay = (tx: Db, id: string, reason: DelayReason) =>
  tx.run(sql`update messages set delay_reason = ${reason} where id = ${id}`)

export async function setAttested(
  tx: Db,
  attested: readonly AttestedMessage[],
  nowMs: number,
): Promise<void> {
  const rows = await tx.all<{
    nonce: string
  }>(sql`update messages m set state = 'complete', attested_message = row.attested_message,
      attestation = row.attestation, digest = row.digest, finality_threshold = row.finality_threshold,
      expiration_block = row.expiration_block, attested_date = ${formatInstant(nowMs)}, attested_at = statement_timestamp(), reattest = false,
      forward_fee = row.forward_fee_atomic
    from jsonb_to_recordset(${jsonOf(attested)}::jsonb) as row(id uuid, attested_message text, attestation text,
      digest text, finality_threshold integer, expiration_block numeric, forward_fee_atomic numeric)
    where m.id = row.id returning m.nonce`)
  await followMessages(
    tx,
    rows.map(({ nonce }) => nonce),
  )
}

/** Takes an amount of the allowance for a message; `false` where it has no room. */
export async function takeAllowance(
  tx: Db,
  environment: string,
  { id, amount, max }: { id: string; amount: bigint; max: bigint },
): Promise<boolean> {
  const taken = await tx.run(sql`update fast_allowances set used = used + ${amount.toString()}::numeric
    where environment = ${environment} and used + ${amount.toString()}::numeric <= ${max.toString()}::numeric`)
  if (taken === 0) return false
  await tx.run(sql`update messages set allowance_taken = ${amount.toString()} where id = ${id}`)
  return true
}

export const usedAllowance = async (db: Db, environment: string): Promise<bigint> =>
  (await db.one<{ used: bigint }>(sql`select used from fast_allowances where environment = ${environment}`))
    .used

export type ShownMessage = MessageRow & {
  /** Whether the block that shows its delivery is final on the destination. */
  isDeliveryFinal: boolean
}

type MessageQuery = { domain: number; transactionHash?: string; nonce?: string }

const shownMax = 100

/** The messages of a chain by transaction or nonce, in the order of their logs. */
export const messagesBy = (
  db: Db,
  blockchain: string,
  { transactionHash, nonce }: Omit<MessageQuery, 'domain'>,
) =>
  db.all<ShownMessage>(sql`select ${columns}, coalesce(received_block_number <=
      (select final from message_heights h where h.blockchain = received_blockchain), received_tx_hash is not null)
      as is_delivery_final
    from messages where blockchain = ${blockchain}
      and ${transactionHash === undefined ? sql`true` : sql`tx_hash = ${transactionHash}`}
      and ${nonce === undefined ? sql`true` : sql`nonce = ${nonce}`}
    order by block_number, ordinal limit ${shownMax}`)

export const messageByDigest = (db: Db, digest: string) =>
  db.maybe<MessageRow>(sql`select ${columns} from messages where digest = ${digest} limit 1`)

export const messageByNonce = (db: Db, nonce: string) =>
  db.maybe<MessageRow>(sql`select ${columns} from messages where nonce = ${nonce}`)

/** The same message, locked until the `tx` ends. */
export const lockMessage = (tx: Db, nonce: string) =>
  tx.maybe<MessageRow>(sql`select ${columns} from messages where nonce = ${nonce} for update`)

/** Asks for a further attestation of a message, unless it has another one meanwhile; returns its blockchain, once. */
export const askForAnother = (db: Db, { nonce, attestation }: Pick<MessageRow, 'nonce' | 'attestation'>) =>
  db.maybe<{ blockchain: string }>(sql`update messages set reattest = true
    where nonce = ${nonce} and state = 'complete' and attestation = ${attestation} and not reattest
      and received_tx_hash is null
    returning blockchain`)

export type Deliveries = {
  /** The destination. */
  domain: number
  /** The newest block of the destination. */
  head: number
  /** The chains whose messages are delivered. */
  blockchains: readonly string[]
}

/**
 * Gas of a delivery, of each byte of its message, and of an execution beside it, and the cost of a million gas on the destination
 * now, in base units.
 */
export type DeliveryCost = { gas: bigint; ofByte: bigint; ofExecution: bigint; price: bigint }

/** A delivery takes some blocks until it is mined. */
const expiringBlocks = 100

const toForward = ({
  domain,
  blockchains,
}: Deliveries) => sql`destination_domain = ${domain} and forward_fee is not null
  and forward_id is null and received_tx_hash is null and block_hash is not null
  and blockchain = any(${blockchains}::text[])`

/** Whether the fee of a message covers its delivery now. A message is hexadecimal digits after `0x`. */
const isCovered = ({ price, gas, ofByte, ofExecution }: DeliveryCost) => sql`forward_fee * 1000000 >=
  (${gas.toString()}::numeric + case when executes then ${ofExecution.toString()}::numeric else 0 end + ${ofByte.toString()}::numeric * ((length(message) - 2) / 2)) * ${price.toString()}::numeric`

const expires = ({ head }: Deliveries) => sql`expiration_block between 1 and ${head + expiringBlocks}`

/**
 * Asks for a further attestation of messages whose delivery waited until the end of theirs; returns the blockchains that they
 * come from.
 */
export const askAgainForExpired = async (db: Db, deliveries: Deliveries): Promise<Set<string>> => {
  const asked = await db.all<{ blockchain: string }>(sql`update messages set reattest = true
    where ${toForward(deliveries)} and ${expires(deliveries)} and not reattest returning blockchain`)
  return new Set(asked.map(({ blockchain }) => blockchain))
}

export const forwardsDue = async (db: Db, deliveries: Deliveries): Promise<boolean> =>
  (await db.maybe(
    sql`select 1 from messages where ${toForward(deliveries)} and not (${expires(deliveries)}) limit 1`,
  )) !== undefined

/** Tells of deliveries that cost more than their fee now; returns the nonces of those that were not known to wait. */
export const delayUncoveredDeliveries = async (
  db: Db,
  deliveries: Deliveries,
  cost: DeliveryCost,
): Promise<string[]> => {
  const rows = await db.all<{
    nonce: string
  }>(sql`update messages set forward_delay = 'insufficient_forward_fee'
    where ${toForward(deliveries)} and not (${isCovered(cost)}) and forward_delay is null returning nonce`)
  return rows.map(({ nonce }) => nonce)
}

/** Claims attested messages to deliver, oldest first, until the `tx` ends. */
export const claimForwarded = (tx: Db, deliveries: Deliveries, cost: DeliveryCost, limit: number) =>
  tx.all<MessageRow>(sql`select ${columns} from messages
    where ${toForward(deliveries)} and not (${expires(deliveries)}) and ${isCovered(cost)}
    order by create_date, id limit ${limit} for update skip locked`)

/** Records the transaction that delivers a message. */
export const setForward = (tx: Db, id: string, forwardId: string, payer: string) =>
  tx.run(sql`update messages set forward_id = ${forwardId}, forward_entity_id = ${payer},
    forward_delay = null where id = ${id}`)

type FailedDelivery = { nonce: string; forwardId: string; reason: string }

/** Sets the reason of deliveries whose transactions ended without effect; returns them. */
export async function failForwarded(db: Db, domain: number): Promise<FailedDelivery[]> {
  const isUnderWay = sql`forward_id is not null and forward_failure is null and received_tx_hash is null`
  const sent = await db.all<PlatformTransaction>(sql`select forward_entity_id as entity_id, forward_id as id
    from messages where destination_domain = ${domain} and ${isUnderWay}`)
  const failed = [...(await failedTransactions(db, sent)).values()]
  if (failed.length === 0) return []
  return db.all<FailedDelivery>(sql`update messages m set forward_failure = n.r
    from unnest(${failed.map(({ id }) => id)}::uuid[], ${failed.map(({ reason }) => reason)}::text[]) as n(f, r)
    where m.destination_domain = ${domain} and m.forward_id = n.f and ${isUnderWay}
    returning m.nonce, m.forward_id, m.forward_failure as reason`)
}

import type { Evaluation } from '#engines/compliance/index'
import type { ObservedTransaction, ObservedTransfer, TransferOfLog } from '#engines/indexer/observed/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { type State, statesBefore } from '../states.ts'
import type { Ref } from './transactions.ts'

/**
 * Records block, fee and outcome of mined transactions; `revert-reasons.ts` adds revert reasons later. Returns those that changed.
 */
export const markInBlock = (
  tx: Db,
  nowMs: number,
  rows: readonly (Ref & {
    seen: Pick<ObservedTransaction, 'success' | 'txHash' | 'blockHash' | 'blockNumber' | 'fee' | 'blockTime'>
  })[],
) =>
  tx.all<
    Ref & { success: boolean }
  >(sql`update transactions t set state = case when n.s then 'CONFIRMED' else 'FAILED' end,
      tx_hash = n.h, block_hash = n.b, block_number = n.k, network_fee = n.f, first_confirm_date = n.c,
      error_reason = case when n.s then null else 'FAILED_ON_CHAIN' end,
      error_details = null, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map(({ seen }) => seen.success)}::bool[], ${rows.map(({ seen }) => seen.txHash)}::text[],
      ${rows.map(({ seen }) => seen.blockHash)}::text[], ${rows.map(({ seen }) => seen.blockNumber)}::int8[],
      ${rows.map(({ seen }) => seen.fee.toString())}::numeric[], ${rows.map(({ seen }) => seen.blockTime)}::timestamptz[])
      as n(e, i, s, h, b, k, f, c)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('CONFIRMED')]}::text[])
    returning t.entity_id, t.id, n.s as success`)

/** CANCELLED by its owner, or FAILED when nodes had refused it: that recorded an error reason. */
const endState = sql`case when t.error_reason is null then 'CANCELLED' else 'FAILED' end`

type EndedTransaction = Ref & { state: 'CANCELLED' | 'FAILED'; errorReason: string | null }

/** Ends transactions whose cancel transaction was mined. Returns those whose state changed. */
export const markCancelled = (
  tx: Db,
  nowMs: number,
  rows: readonly (Ref & { seen: ObservedTransaction })[],
) =>
  tx.all<EndedTransaction>(sql`update transactions t set state = ${endState}, tx_hash = n.h, block_hash = n.b, block_number = n.k,
      network_fee = n.f, first_confirm_date = n.c, requested_replacement = null, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map(({ seen }) => seen.txHash)}::text[], ${rows.map(({ seen }) => seen.blockHash)}::text[],
      ${rows.map(({ seen }) => seen.blockNumber)}::int8[], ${rows.map(({ seen }) => seen.fee.toString())}::numeric[],
      ${rows.map(({ seen }) => seen.blockTime)}::timestamptz[]) as n(e, i, h, b, k, f, c)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('CANCELLED')]}::text[])
    returning t.entity_id, t.id, t.state, t.error_reason`)

/** `announced`: whether the change is notified. */
type ChangedTransaction = Ref & { announced: boolean }

/** `isUpgrade`: whether it upgrades its smart account. */
export type FollowedUpgrade = Ref & { isUpgrade: boolean }

/** Completes confirmed transactions in blocks up to this one, which has its confirmations. */
export const completeTransactionsUpTo = (tx: Db, nowMs: number, blockchain: string, blockNumber: number) =>
  tx.all<
    ChangedTransaction & FollowedUpgrade
  >(sql`update transactions set state = 'COMPLETE', update_date = ${formatInstant(nowMs)}
    where blockchain = ${blockchain} and state = 'CONFIRMED' and block_number <= ${blockNumber}
    returning entity_id, id, announced, new_core is not null as is_upgrade`)

/** `ofWallet`: whether a wallet of the entity sent it, and not its treasury or a deposit address. */
type MinedIntent = {
  entityId: string
  intentId: string
  state: State
  networkFeeAtomic: bigint
  ofWallet: boolean
}

/** The outbound transactions in these canonical blocks. */
export const minedInBlocks = (db: Db, blockchain: string, fromNumber: number, toNumber: number) =>
  db.all<MinedIntent>(sql`select t.entity_id, t.id as intent_id, t.state,
      coalesce(t.network_fee, 0) as network_fee_atomic, t.wallet_id is not null as of_wallet
    from canonical_blocks b join transactions t on t.blockchain = b.blockchain and t.block_hash = b.hash
    where b.blockchain = ${blockchain} and b.number between ${fromNumber} and ${toNumber}
      and t.transaction_type = 'OUTBOUND'`)

/** Returns the outbound transactions of an orphaned block to SENT. */
export const returnTransactionsToSent = (tx: Db, nowMs: number, blockchain: string, blockHash: string) =>
  tx.all<FollowedUpgrade>(sql`update transactions set state = 'SENT', requested_replacement = null, block_hash = null, block_number = null, network_fee = null,
      first_confirm_date = null, error_reason = null, error_details = null, update_date = ${formatInstant(nowMs)}
    where blockchain = ${blockchain} and block_hash = ${blockHash} and transaction_type = 'OUTBOUND'
      and state in ('CONFIRMED', 'COMPLETE', 'FAILED', 'CANCELLED')
    returning entity_id, id, new_core is not null as is_upgrade`)

/** Requeues transactions that lost their nonce; those with a cancel request or cancel attempt end instead. */
export const requeue = (tx: Db, nowMs: number, rows: readonly Ref[]) =>
  tx.all<
    Ref & { state: 'QUEUED' | 'CANCELLED' | 'FAILED' }
  >(sql`update transactions t set state = case when t.requested_replacement = 'cancel' or exists (select 1 from attempts a
        where a.entity_id = t.entity_id and a.transaction_id = t.id and a.kind = 'cancel') then ${endState} else 'QUEUED' end,
      requested_replacement = null, tx_hash = null, estimated_fee = null, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[]) as n(e, i)
    where t.entity_id = n.e and t.id = n.i and t.state in ('QUEUED', 'SENT', 'STUCK')
    returning t.entity_id, t.id, t.state`)

/**
 * Fails the inbound transactions of an orphaned block; one is confirmed again when another block contains the same transfer.
 */
export const failInbound = (tx: Db, nowMs: number, blockchain: string, blockHash: string) =>
  tx.all<ChangedTransaction>(sql`update transactions set state = 'FAILED', error_reason = 'FAILED_REORG',
      error_details = 'its block was orphaned', block_hash = null, block_number = null, first_confirm_date = null,
      update_date = ${formatInstant(nowMs)}
    where blockchain = ${blockchain} and block_hash = ${blockHash} and transaction_type = 'INBOUND'
    returning entity_id, id, announced`)

export type ReceivedTransfer = Omit<
  ObservedTransfer,
  'id' | 'direction' | 'purpose' | 'kind' | 'position'
> & {
  /** Null where no log told of it. */
  logIndex: number | null
  ordinal: number
  /** In whole tokens; several for the items of one log. Null before the decimals of the token are known. */
  amounts: readonly string[] | null
  itemIds: readonly string[] | null
  /** A transfer of amount zero, or one that no balance proves yet: not listed by default. */
  unproven: boolean
  announced: boolean
  /** The decision about its sender; null where a contract can name any sender. */
  screening: Evaluation | null
}

/** A recorded transfer with what a hold of its money needs. */
export type RecordedTransfer = ChangedTransaction & {
  address: string
  tokenId: string
  amountAtomic: bigint
  screening: Evaluation | null
}

/** Digits and points as the text of a PostgreSQL array: an array of arrays of different lengths has no other form. */
const listText = (items: readonly string[]) => `{${items.join(',')}}`

/** Writes incoming transfers as transactions; the same transfer in another block updates the same transaction. */
export const upsertInbound = (tx: Db, nowMs: number, rows: readonly ReceivedTransfer[]) =>
  perEntity(rows, (entityId, own) =>
    tx.all<RecordedTransfer>(sql`insert into transactions (entity_id, id, blockchain, wallet_id, address, transaction_type, custody_type, user_id,
      state, operation, token_id, source_address, destination_address, amounts, amount, tx_hash, block_hash, block_number,
      log_index, ordinal, first_confirm_date, announced, unproven, nft_token_ids, screening, to_freeze, create_date, update_date)
    select ${entityId}::uuid, i, b, w, a, 'INBOUND', coalesce(c.custody_type, 'DEVELOPER'), c.user_id, 'CONFIRMED', 'TRANSFER', t, f, d, m::text[], n, h, bh, bn, l, o, y, u, p, k::text[],
      s::jsonb, z, ${formatInstant(nowMs)}, ${formatInstant(nowMs)}
    from unnest(${own.map(() => newId(nowMs))}::uuid[],
      ${own.map((row) => row.blockchain)}::text[], ${own.map((row) => row.ownerId)}::uuid[],
      ${own.map((row) => row.address)}::text[], ${own.map((row) => row.tokenId)}::uuid[],
      ${own.map((row) => row.fromAddress)}::text[], ${own.map((row) => row.toAddress)}::text[],
      ${own.map((row) => row.amounts && listText(row.amounts))}::text[], ${own.map((row) => row.amount.toString())}::numeric[],
      ${own.map((row) => row.txHash)}::text[], ${own.map((row) => row.blockHash)}::text[],
      ${own.map((row) => row.blockNumber)}::int8[], ${own.map((row) => row.logIndex)}::int4[],
      ${own.map((row) => row.ordinal)}::int4[],
      ${own.map((row) => row.blockTime)}::timestamptz[], ${own.map((row) => row.announced)}::bool[],
      ${own.map((row) => row.unproven)}::bool[],
      ${own.map((row) => row.itemIds && listText(row.itemIds))}::text[],
      ${own.map(({ screening }) => screening && JSON.stringify(screening))}::text[],
      ${own.map(({ screening }) => screening?.actions.includes('FREEZE_WALLET') ?? false)}::bool[])
      as row(i, b, w, a, t, f, d, m, n, h, bh, bn, l, o, y, u, p, k, s, z)
      left join wallet_custody c on c.entity_id = ${entityId} and c.wallet_id = w
    on conflict (entity_id, blockchain, tx_hash, address, token_id, ordinal) where transaction_type = 'INBOUND'
    do update set state = 'CONFIRMED', block_hash = excluded.block_hash, block_number = excluded.block_number,
      amounts = excluded.amounts, amount = excluded.amount, source_address = excluded.source_address,
      log_index = excluded.log_index, first_confirm_date = excluded.first_confirm_date, error_reason = null, error_details = null,
      nft_token_ids = excluded.nft_token_ids, announced = excluded.announced, unproven = excluded.unproven,
      screening = excluded.screening, to_freeze = excluded.to_freeze, update_date = excluded.update_date
    returning entity_id, id, announced, address, token_id, amount as amount_atomic, screening`),
  )

/** A balance whose token has these decimals. */
type DescribedBalance = { entityId: string; address: string; tokenId: string; decimals: number }

/** Writes the amounts of incoming transfers that waited for the decimals of their token. */
export const fillAmounts = (tx: Db, nowMs: number, rows: readonly DescribedBalance[]) =>
  tx.run(sql`update transactions t set amounts = array[trim_scale(t.amount * n.f)::text],
      update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.tokenId)}::uuid[],
      ${rows.map((row) => row.address)}::text[], ${rows.map((row) => `1e-${row.decimals}`)}::numeric[]) as n(e, k, a, f)
    where t.entity_id = n.e and t.token_id = n.k and t.address = n.a and t.transaction_type = 'INBOUND'
      and t.amounts is null`)

/** Marks incoming transfers as proven; returns their states. */
export const markProven = (
  tx: Db,
  nowMs: number,
  blockchain: string,
  rows: readonly (TransferOfLog & { announced: boolean })[],
) =>
  tx.all<
    ChangedTransaction & { state: State }
  >(sql`update transactions t set unproven = false, announced = n.u,
      update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.blockHash)}::text[],
      ${rows.map((row) => row.txHash)}::text[], ${rows.map((row) => row.logIndex)}::int4[],
      ${rows.map((row) => row.announced)}::bool[]) as n(e, b, h, l, u)
    where t.entity_id = n.e and t.blockchain = ${blockchain} and t.block_hash = n.b and t.tx_hash = n.h
      and t.log_index = n.l and t.transaction_type = 'INBOUND' and t.unproven
    returning t.entity_id, t.id, t.announced, t.state`)

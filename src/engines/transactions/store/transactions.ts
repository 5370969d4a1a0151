import { canonicalAddress, canonicalTxId } from '#chains/addresses/canonical'
import type { Evaluation } from '#engines/compliance/index'
import type { UpgradeTarget } from '#lib/sca-cores'
import { formatInstant } from '#lib/time'
import { type Page, readMergedPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { allOf, type Db, listedWord, raw, type Sql, sql } from '#runtime/db/db'
import {
  jsonb,
  nullable,
  numeric,
  type RowOf,
  table,
  text,
  textOf,
  texts,
  timestamptz,
  uuid,
} from '#runtime/db/table'
import { perEntity } from '#runtime/per-entity'
import { isOwned, type RowOwner } from '#runtime/row-owner'
import type { Queue } from '#runtime/turns/queues'
import { deferredUntil, isNotDeferred, type Turn, takeInTurns } from '#runtime/turns/store'
import { type State, statesBefore } from '../states.ts'

export type Level = 'LOW' | 'MEDIUM' | 'HIGH'

/** The fee estimate at signing; prices in the smallest unit of the native coin. */
export type SignedFee = {
  gasLimit: string
  baseFee: string
  priorityFee: string
  maxFee: string
  /** Native coins that it takes beside the fee, in base units; absent where it takes none. */
  deposit?: string
}

const transactions = table('transactions', {
  id: uuid,
  blockchain: text,
  walletId: nullable(uuid),
  address: text,
  transactionType: textOf<'INBOUND' | 'OUTBOUND'>(),
  custodyType: text,
  /** The user of the wallet, if it is one's. */
  userId: nullable(text),
  state: textOf<State>(),
  operation: text,
  tokenId: nullable(uuid),
  sourceAddress: nullable(text),
  destinationAddress: nullable(text),
  amounts: nullable(texts),
  nftTokenIds: nullable(texts),
  contractAddress: nullable(text),
  abiFunctionSignature: nullable(text),
  abiParameters: nullable(jsonb<unknown[]>()),
  feeLevel: nullable(textOf<Level>()),
  estimatedFee: nullable(jsonb<SignedFee>()),
  refId: text,
  txHash: nullable(text),
  userOpHash: nullable(text),
  blockHash: nullable(text),
  networkFee: nullable(numeric),
  firstConfirmDate: nullable(timestamptz),
  /** The decision of screening; null before it. */
  screening: nullable(jsonb<Evaluation>()),
  errorReason: nullable(text),
  errorDetails: nullable(text),
  createDate: timestamptz,
  updateDate: timestamptz,
})

export type TransactionRow = RowOf<typeof transactions> & {
  blockHeight: number | null
  /** Whether its token is worth one US dollar. */
  inDollars: boolean
}

const columns = sql`${transactions.columns('t')}, t.block_number as block_height,
  exists (select 1 from dollar_tokens d where d.token_id = t.token_id offset 0) as in_dollars`

/** Wakes the workers of every process when the `tx` commits. */
export const announceWork = (tx: Db, blockchain: string) =>
  tx.run(sql`select pg_notify('chain_work', ${blockchain})`)

export const findTransaction = (db: Db, owner: RowOwner, id: string) =>
  db.maybe<TransactionRow>(
    sql`select ${columns} from transactions t
      where ${isOwned('t', owner)} and t.id = ${id} and t.wallet_id is not null`,
  )

/**
 * The transaction with the lowest nonce among those of a sender that are signed and in no block yet; all others wait for it.
 */
export const lowestNonceTransaction = (db: Db, entityId: string, blockchain: string, address: string) =>
  db.maybe<TransactionRow>(sql`select ${columns} from attempts a
    join transactions t on t.entity_id = a.entity_id and t.id = a.transaction_id
    where a.blockchain = ${blockchain} and a.address = ${address} and a.entity_id = ${entityId}
      and a.state in ('signed', 'sent') and a.kind = 'original' and t.wallet_id is not null
      and t.state in ('QUEUED', 'SENT', 'STUCK')
    order by a.nonce limit 1`)

/** The oldest transaction of each address that is signed and in no block yet, of those that have one; ids sort by creation. */
export async function oldestInFlight(
  db: Db,
  blockchain: string,
  entityId: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.all<{ address: string; id: string }>(sql`select n.address, oldest.id
    from unnest(${addresses}::text[]) as n(address)
    cross join lateral (select a.transaction_id as id from attempts a
      where a.blockchain = ${blockchain} and a.entity_id = ${entityId} and a.address = n.address
        and a.state in ('signed', 'sent')
      order by a.transaction_id limit 1) oldest`)
  return new Map(rows.map(({ address, id }) => [address, id]))
}

export type TransactionFilters = {
  blockchain?: string | undefined
  custodyType?: string | undefined
  destinationAddress?: string | undefined
  /** Includes inbound transfers of tokens that are not shown by default; outbound ones are always listed. */
  includeAll?: boolean | undefined
  operation?: string | undefined
  state?: string | undefined
  txHash?: string | undefined
  txType?: string | undefined
  userId?: string | undefined
  walletIds?: readonly string[] | undefined
}

/** Conditions that are those of the indexes: transactions that are shown by default, and those that no balance proves. */
const proven = sql`not t.unproven`
const unproven = sql`t.unproven`

export const listTransactions = (
  db: Db,
  owner: RowOwner,
  filters: TransactionFilters,
  page: PageQuery,
): Promise<Page<TransactionRow>> => {
  const source = (...more: Sql[]): Source => ({
    columns,
    from: sql`transactions t`,
    alias: 't',
    scope: sql`${isOwned('t', owner)} and t.wallet_id is not null`,
    filters: [...more, ...conditionsOf(filters)],
    among: filters.walletIds && { column: raw('t.wallet_id'), type: 'uuid', values: filters.walletIds },
  })
  if (filters.includeAll) {
    const halves = [proven, unproven].flatMap((half) => kindsOf(filters).map((kind) => source(half, kind)))
    return readMergedPage(db, halves, page)
  }
  const isShown = sql`t.transaction_type = 'OUTBOUND' or not exists (select 1 from hidden_tokens u
    where u.entity_id = ${owner.entityId} and u.token_id = t.token_id offset 0)`
  const sources = kindsOf(filters).map((kind) => source(proven, isShown, kind))
  return readMergedPage(db, sources, page)
}

/**
 * The conditions on `transaction_type` and `custody_type` that a list is read by. Where one of them is the only filter, both values of
 * the other are read, each in the order of the page, by the index that has both columns.
 */
function kindsOf({ txType, custodyType, includeAll: _, ...others }: TransactionFilters): Sql[] {
  const isAlone = Object.values(others).every((value) => value === undefined)
  const types = txType === undefined ? ['INBOUND', 'OUTBOUND'] : [txType]
  const custodies = custodyType === undefined ? ['DEVELOPER', 'ENDUSER'] : [custodyType]
  const hasKind = txType !== undefined || custodyType !== undefined
  if (!hasKind || !isAlone)
    return [
      allOf([
        txType === undefined ? undefined : sql`t.transaction_type = ${listedWord(txType)}`,
        custodyType === undefined ? undefined : sql`t.custody_type = ${listedWord(custodyType)}`,
      ]),
    ]
  return types.flatMap((type) =>
    custodies.map(
      (custody) => sql`t.transaction_type = ${listedWord(type)} and t.custody_type = ${listedWord(custody)}`,
    ),
  )
}

const conditionsOf = (filters: TransactionFilters): (Sql | undefined)[] => [
  filters.blockchain === undefined ? undefined : sql`t.blockchain = ${listedWord(filters.blockchain)}`,
  filters.destinationAddress === undefined
    ? undefined
    : sql`t.destination_address = ${canonicalAddress(filters.destinationAddress)}`,
  filters.operation === undefined ? undefined : sql`t.operation = ${listedWord(filters.operation)}`,
  filters.state === undefined ? undefined : sql`t.state = ${listedWord(filters.state)}`,
  filters.txHash === undefined ? undefined : sql`t.tx_hash = ${canonicalTxId(filters.txHash)}`,
  filters.userId === undefined ? undefined : sql`t.user_id = ${filters.userId}`,
]

/** An outbound transaction that waits for its nonce. */
export type WaitingTransaction = {
  entityId: string
  id: string
  /** Null of a transaction of a treasury. */
  walletId: string | null
  address: string
  operation: string
  /** Null where the data creates a contract. */
  callTo: string | null
  callValue: bigint
  callData: Buffer
  feeLevel: Level | null
  gasLimit: bigint | null
  maxFee: bigint | null
  priorityFee: bigint | null
  /** The most that its user approved for gas. */
  feeMax: bigint | null
  /**
   * Whether the sender is a treasury, or a deposit address that pays one, which no customer is asked to fund: the transaction waits
   * for coins instead of failing.
   */
  ofTreasury: boolean
  /** Whether the sender is a smart account, whose gas is sponsored. */
  ofAccount: boolean
  /** The version that it upgrades its smart account to; it has a gas limit then. */
  newCore: UpgradeTarget | null
}

/** A waiting transaction in its queue. */
export type QueuedTransaction = WaitingTransaction & {
  createDate: string
  /** Whether the transaction is deferred, independently of its sender, because no node could estimate it. */
  isDeferred: boolean
}

const waitingColumns = sql`entity_id, id, wallet_id, address, operation, call_to, call_value, call_data, fee_level,
  gas_limit, max_fee, priority_fee, fee_max, wallet_id is null as of_treasury, smart_account as of_account, new_core`

/** `ofAccounts`: those of smart accounts, for which operations are signed. */
const isWaiting = (ofAccounts: boolean) =>
  sql`transaction_type = 'OUTBOUND' and state in ('CLEARED', 'QUEUED') and tx_hash is null and user_op_hash is null
    and smart_account = ${ofAccounts}`

export type Sender = { entityId: string; address: string }

/** A sender with transactions to sign. */
export type WaitingSender = Sender & {
  /** The creation date of its oldest waiting transaction. */
  createDate: string
  /** Its newest waiting transaction and its number of in-flight attempts; a change of either ends a deferral. */
  seen: string
  /** Whether it could not proceed before, and `seen` is unchanged since. */
  wasTried: boolean
}

/** Number of senders of one entity that a round checks. */
const sendersMax = 2_000

/**
 * The next senders with transactions to sign; entities take turns. Of one entity, senders that were never tried come first,
 * then those tried longest ago. Index probes for each sender keep the cost independent of the backlog. Entities of which all senders
 * are deferred are passed over.
 */
export function waitingSenders(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
  ofAccounts: boolean,
): Promise<WaitingSender[]> {
  const where = sql`q.blockchain = ${blockchain} and ${isWaiting(ofAccounts)}`
  const take = (entityId: string, max: number) =>
    db.all<WaitingSender>(sql`${sendersOf(turn.queue, blockchain, entityId, ofAccounts)} limit ${max}`)
  return takeInTurns(db, turn, { from: sql`transactions q`, where, take }, limit)
}

/**
 * The condition that a queued transaction is of the entity. Two elements make an index that starts with the entity look dear, which
 * is not in the order of the queue: by it, the planner might read all that a sender has waiting.
 */
const isOf = (entityId: string) => sql`q.entity_id = any(array[${entityId}, ${entityId}]::uuid[])`

/** The senders of one entity in the queue, in its order. */
function sendersOf(queue: Queue, blockchain: string, entityId: string, ofAccounts: boolean): Sql {
  const own = sql`q.entity_id = ${entityId} and q.blockchain = ${blockchain} and ${isWaiting(ofAccounts)}`
  const first = sql`select q.create_date, q.id from transactions q where q.blockchain = ${blockchain}
    and q.address = s.address and ${isOf(entityId)} and ${isWaiting(ofAccounts)}`
  const until = deferredUntil(queue, blockchain, sql`${entityId}`, sql`s.address`, sql`looks.seen`)
  return sql`with recursive s as (
        select (select min(q.address) from transactions q where ${own}) as address, 1 as n
        union all
        select (select min(q.address) from transactions q where ${own} and q.address > s.address), s.n + 1
        from s where s.address is not null and s.n < ${sendersMax}
      )
      select ${entityId}::uuid as entity_id, s.address, oldest.create_date, looks.seen,
        deferred.until is not null as was_tried
      from s cross join lateral (${first} order by q.create_date, q.id limit 1) oldest
      cross join lateral (${first} order by q.create_date desc, q.id desc limit 1) newest
      cross join lateral (select concat(newest.id, ' ', count(*)) as seen from attempts a
        where a.entity_id = ${entityId} and a.blockchain = ${blockchain} and a.address = s.address
          and a.state in ('signed', 'sent')) looks
      cross join lateral (select ${until} as until) deferred
      where coalesce(deferred.until <= now(), true)
      order by deferred.until nulls first, oldest.create_date, s.address`
}

/** The number of transactions that an address may have signed now. */
export type SigningRoom = { address: string; room: number }

/** The next transactions of each sender to sign, oldest first. `lock` claims them for the `tx`. */
export const waitingOf = (
  db: Db,
  blockchain: string,
  entityId: string,
  rooms: readonly SigningRoom[],
  { lock, ofAccounts = false }: { lock: boolean; ofAccounts?: boolean },
) =>
  db.all<QueuedTransaction>(sql`select w.* from unnest(${rooms.map(({ address }) => address)}::text[],
      ${rooms.map(({ room }) => room)}::int8[]) as n(of_address, room)
    cross join lateral (
      select ${waitingColumns}, create_date,
        not ${isNotDeferred('signing', blockchain, sql`${entityId}`, sql`q.id::text`)} as is_deferred
      from transactions q where ${isOf(entityId)} and blockchain = ${blockchain}
        and address = n.of_address and ${isWaiting(ofAccounts)}
      order by create_date, id limit n.room ${lock ? sql`for update skip locked` : sql``}
    ) w`)

/** The transactions among these that succeeded in a canonical block up to `blockNumber`. */
export const minedUpTo = (db: Db, refs: readonly Ref[], blockNumber: number) =>
  db.all<Ref>(sql`select t.entity_id, t.id
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join transactions t on t.entity_id = n.e and t.id = n.i
    where t.state in ('CONFIRMED', 'COMPLETE') and t.block_number <= ${blockNumber}`)

/** Locks the transactions among these that have no signature yet and that no worker is signing. */
export const lockUnsigned = (tx: Db, refs: readonly Ref[]) =>
  perEntity(refs, (entityId, own) =>
    tx.all<Ref>(sql`select t.entity_id, t.id from transactions t
    where t.entity_id = ${entityId} and t.id = any(${own.map((ref) => ref.id)}::uuid[])
      and t.transaction_type = 'OUTBOUND' and t.state in ('INITIATED', 'CLEARED', 'QUEUED') and t.tx_hash is null
      and t.user_op_hash is null
    order by t.id for update of t skip locked`),
  )

/** The fields of a transaction that its grant is bound to. */
export const intentOf = (db: Db, entityId: string, id: string) =>
  db.one<WaitingTransaction>(
    sql`select ${waitingColumns} from transactions where entity_id = ${entityId} and id = ${id}`,
  )

/** A row of one entity: a transaction, or one of its attempts. */
export type Ref = { entityId: string; id: string }

/**
 * Sets signed, durable transactions to QUEUED, with hash, fee and, for a deployment, the address that its nonce gives the
 * contract: it is recorded before the contract can exist.
 */
export async function markQueued(
  tx: Db,
  nowMs: number,
  rows: readonly (Ref & {
    txHash: string
    fee: SignedFee
    feePayer: string | undefined
    createdContract: string | undefined
  })[],
): Promise<void> {
  await tx.run(sql`update transactions t set state = 'QUEUED', tx_hash = n.h, estimated_fee = n.f::jsonb, fee_payer = n.p,
      contract_address = coalesce(n.c, t.contract_address),
      error_details = null, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.txHash)}::text[], ${rows.map((row) => JSON.stringify(row.fee))}::text[],
      ${rows.map((row) => row.createdContract ?? null)}::text[],
      ${rows.map((row) => row.feePayer ?? null)}::text[]) as n(e, i, h, f, c, p)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('QUEUED'), 'QUEUED']}::text[])`)
}

/** Shows owners why their transactions wait for a signature; an unchanged text is not written again. */
export async function showWaitReason(
  db: Db,
  nowMs: number,
  rows: readonly Ref[],
  details: string,
): Promise<void> {
  if (rows.length === 0) return
  await db.run(sql`update transactions t set error_details = ${details}, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[]) as n(e, i)
    where t.entity_id = n.e and t.id = n.i and t.state in ('INITIATED', 'CLEARED', 'QUEUED') and t.tx_hash is null
      and t.error_reason is null and t.error_details is distinct from ${details}`)
}

/** Enters `to` from the states that allow it; returns the rows that did. */
export const enterState = (tx: Db, nowMs: number, to: State, rows: readonly Ref[]) =>
  tx.all<Ref>(sql`update transactions t set state = ${to}, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[]) as n(e, i)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore(to)]}::text[])
    returning t.entity_id, t.id`)

export async function markFailed(
  tx: Db,
  nowMs: number,
  rows: readonly (Ref & { reason: string; details: string })[],
): Promise<void> {
  await tx.run(sql`update transactions t set state = 'FAILED', error_reason = n.r, error_details = n.d,
      update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.reason)}::text[], ${rows.map((row) => row.details.slice(0, 1000))}::text[]) as n(e, i, r, d)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('FAILED')]}::text[])`)
}

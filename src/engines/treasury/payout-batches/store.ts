import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'

export const payoutBatchStates = ['previewed', 'approved', 'complete', 'cancelled'] as const

/** A file of payouts as it was understood. Dates are formatted for responses. */
export type PayoutBatch = {
  entityId: string
  id: string
  name: string
  state: (typeof payoutBatchStates)[number]
  /** In hexadecimal digits. */
  contentHash: string
  identities: object[] | null
  /** The payment reason code of every payout. */
  purposeOfTransfer: string | null
  notices: readonly string[]
  uploadedBy: string
  approvedBy: string | null
  approvalRequestId: string | null
  rowCount: number
  errorCount: number
  warningCount: number
  createdCount: number
  failedCount: number
  createDate: string
  updateDate: string
}

/** A mistake in one cell of a row, or in the row. A row with an error cannot be paid; a warning stops nothing. */
export type RowProblem = { column: string; severity: 'error' | 'warning'; message: string }

/** The payment that a row asks for. */
export type RowPayment = {
  recipientId: string
  chain: string
  blockchain: string
  toAddress: string
  currency: string
  tokenId: string
  amount: bigint
}

export const batchRowStates = ['waiting', 'created', 'failed'] as const

export type PayoutBatchRow = {
  id: string
  number: number
  cells: Readonly<Record<string, string>>
  problems: readonly RowProblem[]
  payment: RowPayment | null
  reference: string | null
  state: (typeof batchRowStates)[number]
  errorCode: number | null
  errorText: string | null
  createDate: string
}

/** A row with the state of its payout. */
export type ShownBatchRow = Omit<PayoutBatchRow, 'payment'> &
  Partial<Record<keyof Omit<RowPayment, 'amount'>, string | null>> & {
    amount: bigint | null
    payoutStatus: string | null
    payoutErrorCode: string | null
    transactionHash: string | null
  }

const columns =
  raw(`b.entity_id, b.id, b.name, b.state, encode(b.content_hash, 'hex') as content_hash, b.identities, b.purpose_of_transfer, b.notices,
  b.uploaded_by, b.approved_by, b.approval_request_id, b.row_count, b.error_count, b.warning_count, b.created_count,
  b.failed_count, b.create_date, b.update_date`)

/**
 * Serialises the uploads of an entity, so that their number can be counted. Returns the number of open previews, and of batches that
 * were uploaded since then and cancelled.
 */
export async function countUploads(tx: Db, entityId: string, since: string) {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`payout batches of ${entityId}`}, 0))`)
  return tx.one<{ previewed: number; cancelled: number }>(sql`select
    (select count(*)::int from payout_batches where entity_id = ${entityId} and state = 'previewed') as previewed,
    (select count(*)::int from payout_batches
      where entity_id = ${entityId} and row_count > 0 and create_date > ${since} and state = 'cancelled') as cancelled`)
}

/** The newest batch of the same contents that was not cancelled. */
export const findSameContent = (db: Db, entityId: string, contentHash: string) =>
  db.maybe<PayoutBatch>(sql`select ${columns} from payout_batches b where b.entity_id = ${entityId}
    and b.content_hash = ${Buffer.from(contentHash, 'hex')} and b.state <> 'cancelled' order by b.id desc limit 1`)

export const insertPayoutBatch = (tx: Db, batch: PayoutBatch) =>
  tx.run(sql`insert into payout_batches (entity_id, id, name, state, content_hash, identities, purpose_of_transfer, notices, uploaded_by, row_count,
      error_count, warning_count, create_date, update_date)
    values (${batch.entityId}, ${batch.id}, ${batch.name}, ${batch.state}, ${Buffer.from(batch.contentHash, 'hex')},
      ${batch.identities && JSON.stringify(batch.identities)}, ${batch.purposeOfTransfer}, ${JSON.stringify(batch.notices)},
      ${batch.uploadedBy}, ${batch.rowCount}, ${batch.errorCount}, ${batch.warningCount}, ${batch.createDate}, ${batch.updateDate})`)

type NewRow = Pick<PayoutBatchRow, 'id' | 'number' | 'cells' | 'problems' | 'payment' | 'reference'>

export function insertRows(tx: Db, { entityId, id, createDate }: PayoutBatch, rows: readonly NewRow[]) {
  const texts = (textOf: (row: NewRow) => string | null | undefined) => rows.map((row) => textOf(row) ?? null)
  return tx.run(sql`insert into payout_batch_rows (entity_id, id, batch_id, number, cells, problems, has_problem, recipient_id,
      chain, blockchain, to_address, currency, token_id, amount, reference, state, create_date)
    select ${entityId}::uuid, n.id, ${id}::uuid, n.number, n.cells::jsonb, n.problems::jsonb, n.has_problem, n.recipient_id, n.chain,
      n.blockchain, n.to_address, n.currency, n.token_id, n.amount, n.reference, 'waiting', ${createDate}::timestamptz
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.number)}::int[],
      ${rows.map(({ cells }) => JSON.stringify(cells))}::text[],
      ${rows.map(({ problems }) => JSON.stringify(problems))}::text[],
      ${rows.map(({ problems }) => problems.length > 0)}::boolean[], ${texts((row) => row.payment?.recipientId)}::uuid[],
      ${texts((row) => row.payment?.chain)}::text[], ${texts((row) => row.payment?.blockchain)}::text[],
      ${texts((row) => row.payment?.toAddress)}::text[], ${texts((row) => row.payment?.currency)}::text[],
      ${texts((row) => row.payment?.tokenId)}::uuid[], ${texts((row) => row.payment?.amount.toString())}::numeric[],
      ${texts((row) => row.reference)}::text[])
      as n(id, number, cells, problems, has_problem, recipient_id, chain, blockchain, to_address, currency, token_id, amount, reference)`)
}

export const findBatch = (db: Db, entityId: string, id: string) =>
  db.maybe<PayoutBatch>(
    sql`select ${columns} from payout_batches b where b.entity_id = ${entityId} and b.id = ${id}`,
  )

export const lockBatch = (tx: Db, entityId: string, id: string) =>
  tx.maybe<PayoutBatch>(sql`select ${columns} from payout_batches b
    where b.entity_id = ${entityId} and b.id = ${id} for no key update`)

export const batchesPage = (
  db: Db,
  entityId: string,
  state: PayoutBatch['state'] | undefined,
  page: PageQuery,
) =>
  readPage<PayoutBatch>(
    db,
    {
      columns,
      from: raw('payout_batches b'),
      alias: 'b',
      // The second condition is the one of the partial index.
      scope: sql`b.entity_id = ${entityId} and b.row_count > 0`,
      filters: [state && sql`b.state = ${listedWord(state)}`],
    },
    page,
  )

/** The rows of a batch, in either order of their numbers, which is that of their ids. */
export const batchRowsPage = (
  db: Db,
  { entityId, id }: { entityId: string; id: string },
  hasProblem: boolean | undefined,
  page: PageQuery,
) =>
  readPage<ShownBatchRow>(
    db,
    {
      columns:
        raw(`r.id, r.number, r.cells, r.problems, r.recipient_id, r.chain, r.blockchain, r.to_address, r.currency,
        r.token_id, r.amount, r.reference, r.state, r.error_code, r.error_text, r.create_date, p.status as payout_status,
        p.error_code as payout_error_code, p.transaction_hash`),
      from: raw('payout_batch_rows r left join payout_states p on p.entity_id = r.entity_id and p.id = r.id'),
      alias: 'r',
      scope: sql`r.entity_id = ${entityId} and r.batch_id = ${id}`,
      filters: [
        hasProblem === undefined ? undefined : hasProblem ? sql`r.has_problem` : sql`not r.has_problem`,
      ],
    },
    page,
  )

/** The references of payouts that files asked for, where they have one. */
export const batchReferences = (db: Db, entityId: string, payoutIds: readonly string[]) =>
  db.all<{ id: string; reference: string }>(sql`select r.id, r.reference from payout_batch_rows r
    where r.entity_id = ${entityId} and r.id = any(${payoutIds}::uuid[]) and r.reference is not null`)

/** The sum of a batch in one currency on one chain. */
export type BatchTotal = {
  chain: string
  blockchain: string
  currency: string
  amount: bigint
  rowCount: number
}

export const batchTotals = (db: Db, entityId: string, id: string) =>
  db.all<BatchTotal>(sql`select r.chain, r.blockchain, r.currency, sum(r.amount) as amount, count(*)::int as row_count
    from payout_batch_rows r where r.entity_id = ${entityId} and r.batch_id = ${id} and r.amount is not null
    group by r.chain, r.blockchain, r.currency order by r.chain, r.currency`)

export const approveBatch = (tx: Db, batch: PayoutBatch) =>
  tx.run(sql`update payout_batches set state = 'approved', approved_by = ${batch.approvedBy},
      approval_request_id = ${batch.approvalRequestId}, update_date = ${batch.updateDate}
    where entity_id = ${batch.entityId} and id = ${batch.id}`)

export const cancelBatch = (tx: Db, { entityId, id, updateDate }: PayoutBatch) =>
  tx.run(sql`update payout_batches set state = 'cancelled', update_date = ${updateDate}
    where entity_id = ${entityId} and id = ${id}`)

/** Wakes the workers, also those of other processes, when this `tx` commits. */
export const announceBatch = (tx: Db) => tx.run(sql`select pg_notify('payout_batches', '')`)

/** Claims an approved batch with a row that is due, round-robin over tenants, and locks it until the `tx` ends. */
export async function claimBatch(tx: Db, turn: Turn): Promise<PayoutBatch | undefined> {
  const claim = {
    from: sql`payout_batches b`,
    alias: 'b',
    where:
      () => sql`b.state = 'approved' and exists (select 1 from payout_batch_rows r where r.entity_id = b.entity_id
      and r.batch_id = b.id and r.state = 'waiting' and r.next_attempt_at <= now())`,
    order: sql`b.id`,
    columns,
    strength: 'no key update' as const,
  }
  const [found] = await claimInTurns<PayoutBatch>(tx, turn, claim, 1)
  return found
}

/** A row of a claimed batch. */
export type DueRow = RowPayment & { entityId: string; batchId: string; id: string; number: number }

/** The next due row of a batch that this `tx` has locked. */
export const nextDueRow = (tx: Db, { entityId, id }: PayoutBatch) =>
  tx.maybe<DueRow>(sql`select r.entity_id, r.batch_id, r.id, r.number, r.recipient_id, r.chain, r.blockchain, r.to_address,
      r.currency, r.token_id, r.amount
    from payout_batch_rows r where r.entity_id = ${entityId} and r.batch_id = ${id} and r.state = 'waiting'
      and r.next_attempt_at <= now() order by r.next_attempt_at, r.number limit 1`)

/** Ends a waiting row and counts it in its batch, which is complete with its last row. Returns the batch; undefined when the row has ended before. */
export async function endRow(
  tx: Db,
  { entityId, batchId, id }: DueRow,
  error: { code: number; text: string } | undefined,
  at: string,
): Promise<PayoutBatch | undefined> {
  const ended = await tx.run(sql`update payout_batch_rows set state = ${error ? 'failed' : 'created'},
      error_code = ${error?.code ?? null}, error_text = ${error?.text ?? null}
    where entity_id = ${entityId} and id = ${id} and state = 'waiting'`)
  if (ended === 0) return undefined
  return tx.one<PayoutBatch>(sql`update payout_batches b set created_count = created_count + ${error ? 0 : 1},
      failed_count = failed_count + ${error ? 1 : 0}, update_date = ${at},
      state = case when state = 'approved' and created_count + failed_count + 1 = row_count then 'complete' else state end
    where b.entity_id = ${entityId} and b.id = ${batchId} returning ${columns}`)
}

/** Defers a row by `ms`, behind rows that are due. */
export const postponeRow = (db: Db, { entityId, id }: DueRow, ms: number) =>
  db.run(sql`update payout_batch_rows set next_attempt_at = now() + ${ms} * interval '1 millisecond'
    where entity_id = ${entityId} and id = ${id} and state = 'waiting'`)

import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { fingerprintOf } from '#lib/json'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import {
  countUploads,
  findSameContent,
  insertPayoutBatch,
  insertRows,
  type PayoutBatch,
  type PayoutBatchRow,
} from './store.ts'

/** The most batches of an entity that wait for an approval. */
const previewsMax = 20
/** The most batches of an entity that are uploaded and cancelled within a day: their rows are kept. */
const cancelledMax = 100
const dayMs = 86_400_000

/** A row of a file, as it was understood. */
export type ReadRow = Pick<PayoutBatchRow, 'number' | 'cells' | 'problems' | 'payment' | 'reference'>

export type ReadFile = {
  name: string
  rows: readonly ReadRow[]
  notices: readonly string[]
  identities: object[] | null
  purposeOfTransfer: string | null
}

/** Keeps what was understood of a file, in `ctx.db`'s tx: nothing is paid before it is approved. */
export async function uploadPayouts(ctx: Ctx, file: ReadFile): Promise<PayoutBatch> {
  const { db, receivedMs, entity, actor, requestId } = ctx
  const { previewed, cancelled } = await countUploads(db, entity.id, formatInstant(receivedMs - dayMs))
  if (previewed >= previewsMax)
    throw new ApiError(
      'tooManyRequests',
      `${previewsMax} batches wait for an approval: approve or cancel one of them first.`,
    )
  if (cancelled >= cancelledMax)
    throw new ApiError(
      'tooManyRequests',
      `${cancelledMax} batches of the last 24 hours were cancelled: upload the next one when the first of them is a day old.`,
    )
  const { rows, notices, identities, purposeOfTransfer, name } = file
  const contentHash = hashOf(file)
  const same = await findSameContent(db, entity.id, contentHash)
  const at = formatInstant(receivedMs)
  const severest = rows.map(({ problems }) =>
    problems.some(({ severity }) => severity === 'error') ? 'error' : problems[0]?.severity,
  )
  const batch: PayoutBatch = {
    entityId: entity.id,
    id: newId(receivedMs),
    name,
    state: 'previewed',
    contentHash,
    identities,
    purposeOfTransfer,
    notices: [
      ...(same
        ? [
            `The same payouts are in the batch ${same.id}, uploaded ${same.createDate}, which is ${same.state}: approve only one of them.`,
          ]
        : []),
      ...notices,
    ],
    uploadedBy: actor,
    approvedBy: null,
    approvalRequestId: null,
    rowCount: rows.length,
    errorCount: severest.filter((severity) => severity === 'error').length,
    warningCount: severest.filter((severity) => severity === 'warning').length,
    createdCount: 0,
    failedCount: 0,
    createDate: at,
    updateDate: at,
  }
  await insertPayoutBatch(db, batch)
  await insertRows(
    db,
    batch,
    rows.map((row) => ({ ...row, id: newId(receivedMs) })),
  )
  const data = { contentHash, rows: rows.length }
  const change = { entityId: entity.id, actor, requestId, resourceId: batch.id, data }
  await recordChanges(db, receivedMs, [{ ...change, type: 'payoutBatch.uploaded' }])
  return batch
}

/** Covers everything that is paid, and to whom. */
const hashOf = ({ rows, identities, purposeOfTransfer }: ReadFile): string =>
  fingerprintOf({
    identities,
    purposeOfTransfer,
    rows: rows.map(({ number, payment, cells, reference }) => ({
      number,
      reference,
      pays: payment ? { ...payment, amount: payment.amount.toString() } : cells,
    })),
  }).toString('hex')

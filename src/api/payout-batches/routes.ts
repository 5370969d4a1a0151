import Type, { type Static } from 'typebox'
import { requirePurpose } from '#api/business/purpose'
import { checkIdentity } from '#api/identity'
import type { Ctx } from '#engines/ctx'
import {
  approvePayouts,
  batchesPage,
  batchRowsPage,
  batchTotals,
  cancelPayouts,
  estimateFees,
  findBatch,
  type PayoutBatch,
  uploadPayouts,
} from '#engines/treasury/payout-batches/index'
import { notFound } from '#lib/errors'
import { businessCollection, type PageQuery } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { checkRows } from './check-rows.ts'
import { readPayoutFile } from './read-file.ts'
import {
  batchFilters,
  batchParams,
  batchRowSchema,
  batchSchema,
  newBatchSchema,
  payoutApprovalBody,
  rowFilters,
  wholeBatchSchema,
} from './schema.ts'
import { showBatch, showRow, showWholeBatch } from './show-batch.ts'

const tag = 'Operator'

async function requireBatch(ctx: Ctx, id: string): Promise<PayoutBatch> {
  const batch = await findBatch(ctx.db, ctx.entity.id, id)
  if (!batch) throw notFound('payout batch', id, 'payoutBatchNotFound')
  return batch
}

async function getBatch(ctx: Ctx, id: string) {
  const batch = await requireBatch(ctx, id)
  const totals = await batchTotals(ctx.db, ctx.entity.id, id)
  return showWholeBatch(ctx, batch, totals, await estimateFees(ctx, ctx.entity.id, totals))
}

/** Reads and checks the file, and asks for its fees, before the `tx` of the request begins: it takes a second or more. */
async function readUpload(ctx: Ctx, { body }: { body: Static<typeof newBatchSchema> }) {
  const { name, csv, identities = [] } = body
  const purposeOfTransfer = requirePurpose(ctx, body.purposeOfTransfer, 'payoutPurposeInvalid')
  for (const [index, identity] of identities.entries()) checkIdentity(identity, `identities[${index}]`)
  const senders = identities.length > 0 ? identities : null
  const file = await readPayoutFile(csv)
  const { rows, notices } = await checkRows(ctx, file.rows, senders)
  const payouts = rows.flatMap(({ payment }) =>
    payment ? [{ blockchain: payment.blockchain, rowCount: 1 }] : [],
  )
  const fees = await estimateFees(ctx, ctx.entity.id, payouts)
  const found = { name, rows, notices: [...file.notices, ...notices] }
  return { fees, file: { ...found, identities: senders, purposeOfTransfer } }
}

async function keepUpload(ctx: Ctx, { file, fees }: Awaited<ReturnType<typeof readUpload>>) {
  const batch = await uploadPayouts(ctx, file)
  return showWholeBatch(ctx, batch, await batchTotals(ctx.db, ctx.entity.id, batch.id), fees)
}

async function listRows(ctx: Ctx, id: string, hasProblem: boolean | undefined, page: PageQuery) {
  const batch = await requireBatch(ctx, id)
  const found = await batchRowsPage(ctx.db, batch, hasProblem, page)
  return { found, items: found.rows.map((row) => showRow(row, batch)) }
}

export const payoutBatchEndpoints = [
  endpoint({
    method: 'POST',
    path: '/operator/payoutBatches',
    operationId: 'uploadOperatorPayouts',
    summary: 'Upload payouts',
    description:
      'Reads a CSV file of payouts and keeps what was understood of it. Nothing is paid before the batch is approved. What is wrong with single rows is in the answer, and no error.',
    tag,
    auth: 'operator:write',
    body: newBatchSchema,
    largeBody: true,
    response: wholeBatchSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (batch: { id: string }) => batch.id,
      reload: (ctx: Ctx, id) => getBatch(ctx, id),
    },
    errors: [
      'payoutFileInvalid',
      'payoutPurposeInvalid',
      'identityTypeInvalid',
      'countryInvalid',
      'districtInvalid',
    ],
    prepare: readUpload,
    verb: (ctx: Ctx, _, upload) => keepUpload(ctx, upload),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/payoutBatches',
    operationId: 'listOperatorPayoutBatches',
    summary: 'List batches of payouts',
    description: 'Lists the files of payouts that were uploaded, newest first.',
    tag,
    auth: 'operator:read',
    query: batchFilters,
    response: Type.Array(batchSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: async (ctx: Ctx, { query, page }) => {
      const found = await batchesPage(ctx.db, ctx.entity.id, query.state, page)
      return { found, items: found.rows.map(showBatch) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/operator/payoutBatches/{id}',
    operationId: 'getOperatorPayoutBatch',
    summary: 'Get a batch of payouts',
    description: 'Returns a batch with its sums, and with what there is to pay them with at this moment.',
    tag,
    auth: 'operator:read',
    params: batchParams,
    response: wholeBatchSchema,
    errors: ['payoutBatchNotFound'],
    verb: (ctx: Ctx, { params }) => getBatch(ctx, params.id),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/payoutBatches/{id}/rows',
    operationId: 'listOperatorPayoutBatchRows',
    summary: 'List the rows of a batch',
    description:
      'Lists the rows of a batch with what each pays, what is wrong with it, and its payout; `order=ASC` gives the order of the file.',
    tag,
    auth: 'operator:read',
    params: batchParams,
    query: rowFilters,
    response: Type.Array(batchRowSchema, { description: 'One page.' }),
    collection: { ...businessCollection, order: true },
    errors: ['payoutBatchNotFound'],
    verb: (ctx: Ctx, { params, query, page }) => listRows(ctx, params.id, query.hasProblem, page),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/payoutBatches/{id}/approve',
    operationId: 'approveOperatorPayouts',
    summary: 'Approve a batch of payouts',
    description:
      'Lets every row of a batch become a payout, as POST /v1/payouts would make it. The approval names the contents that were looked at. Where two operators have to approve reviews, another one than the uploader has to approve.',
    tag,
    auth: 'operator:write',
    params: batchParams,
    body: payoutApprovalBody,
    response: batchSchema,
    errors: [
      'payoutBatchNotFound',
      'payoutBatchChanged',
      'payoutBatchEnded',
      'payoutFileInvalid',
      'payoutBatchNeedsAnother',
      'payoutFundsInsufficient',
      'policyDenied',
    ],
    verb: async (ctx: Ctx, { params, body }) =>
      showBatch(await approvePayouts(ctx, params.id, body.contentHash)),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/payoutBatches/{id}/cancel',
    operationId: 'cancelOperatorPayouts',
    summary: 'Cancel a batch of payouts',
    description:
      'Ends a batch: rows that are no payouts yet never become any. Payouts that exist are not cancelled.',
    tag,
    auth: 'operator:write',
    params: batchParams,
    response: batchSchema,
    errors: ['payoutBatchNotFound', 'payoutBatchEnded'],
    verb: async (ctx: Ctx, { params }) => showBatch(await cancelPayouts(ctx, params.id)),
  }),
]

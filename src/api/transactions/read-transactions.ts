import type { Ctx } from '#engines/ctx'
import { findTransaction, listTransactions, type TransactionFilters } from '#engines/transactions/index'
import { invalid, notFound } from '#lib/errors'
import { isUuid } from '#lib/ids'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { readableBy } from '#runtime/row-owner'
import { showTransaction } from './schema.ts'

export async function getTransaction(ctx: Ctx, id: string, txType?: string) {
  requireType(txType)
  const row = await findTransaction(ctx.db, readableBy(ctx), id)
  if (!row || (txType !== undefined && row.transactionType !== txType))
    throw notFound('transaction', id, 'transactionNotFound')
  return { transaction: showTransaction(row) }
}

type TransactionsQuery = Omit<TransactionFilters, 'walletIds'> & { walletIds?: string }

export async function getTransactions(
  ctx: Ctx,
  { walletIds: text, ...query }: TransactionsQuery,
  page: PageQuery,
): Promise<ListResult> {
  requireType(query.txType)
  const walletIds = text?.split(',').map((id) => id.trim())
  const bad = walletIds?.find((id) => !isUuid(id))
  if (bad !== undefined)
    throw invalid({
      at: 'walletIds',
      reason: 'must be UUIDs separated by commas',
      value: bad,
      error: 'pattern_mismatch',
    })
  const found = await listTransactions(ctx.db, readableBy(ctx), { ...query, walletIds }, page)
  return { found, items: found.rows.map(showTransaction) }
}

function requireType(txType: string | undefined): void {
  if (txType !== undefined && txType !== 'INBOUND' && txType !== 'OUTBOUND') {
    throw invalid({
      at: 'txType',
      reason: 'must be INBOUND or OUTBOUND',
      value: txType,
      kind: 'transactionTypeInvalid',
    })
  }
}

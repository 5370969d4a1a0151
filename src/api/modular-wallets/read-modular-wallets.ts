import { canonicalAddress, canonicalTxId } from '#chains/addresses/canonical'
import type { Ctx } from '#engines/ctx'
import { tokensByIds } from '#engines/ledger/tokens/index'
import {
  findModularTransfer,
  findUserOperation,
  type ModularTransfer,
  transfersPage,
  userOperationsPage,
} from '#engines/modular/index'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { showModularTransfer, showUserOperation } from './schema.ts'

type TransfersQuery = {
  walletAddresses: string
  blockchain?: string
  state?: string
  transferType?: string
  txHash?: string
  userOpHash?: string
}

const addressesIn = (text: string): string[] =>
  text.split(',').map((address) => canonicalAddress(address.trim()))
const hashIn = (text: string | undefined) => (text === undefined ? undefined : canonicalTxId(text))

export async function listModularTransfers(
  ctx: Ctx,
  query: TransfersQuery,
  page: PageQuery,
): Promise<ListResult> {
  const { walletAddresses, blockchain, state, transferType } = query
  const filters = {
    blockchain,
    state,
    transferType,
    walletAddresses: addressesIn(walletAddresses),
    txHash: hashIn(query.txHash),
    userOpHash: hashIn(query.userOpHash),
  }
  const found = await transfersPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: await shownTransfers(ctx, found.rows) }
}

async function shownTransfers({ db }: Pick<Ctx, 'db'>, rows: readonly ModularTransfer[]) {
  const tokens = await tokensByIds(db, [...new Set(rows.map(({ tokenId }) => tokenId))])
  const byId = new Map(tokens.map((token) => [token.id, token]))
  return rows.map((row) => showModularTransfer(row, byId.get(row.tokenId)!))
}

export async function getModularTransfer(ctx: Ctx, id: string) {
  const row = await findModularTransfer(ctx.db, ctx.entity.id, id)
  if (!row) throw notFound('transfer', id, 'modularTransferNotFound')
  const [transfer] = await shownTransfers(ctx, [row])
  return { transfer }
}

type UserOperationsQuery = {
  senders?: string
  refId?: string
  blockchain?: string
  state?: string
  txHash?: string
  userOpHash?: string
}

export async function listUserOperations(
  ctx: Ctx,
  { senders, refId, blockchain, state, txHash, userOpHash }: UserOperationsQuery,
  page: PageQuery,
): Promise<ListResult> {
  const filters = {
    blockchain,
    state,
    // No operation has a reference.
    senders: refId !== undefined ? [] : senders === undefined ? undefined : addressesIn(senders),
    txHash: hashIn(txHash),
    userOpHash: hashIn(userOpHash),
  }
  const found = await userOperationsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showUserOperation) }
}

export async function getUserOperation(ctx: Ctx, id: string) {
  const row = await findUserOperation(ctx.db, ctx.entity.id, id)
  if (!row) throw notFound('user operation', id, 'userOperationNotFound')
  return { userOperation: showUserOperation(row) }
}

import { canonicalAddress } from '#chains/addresses/canonical'
import type { Blockchain } from '#chains/blockchains'
import { networkIdOf } from '#chains/chain-ids'
import type { Ctx } from '#engines/ctx'
import {
  findUnifiedPayment,
  pageUnifiedPayments,
  tokenSymbol,
  type UnifiedPayment,
  unifiedChains,
} from '#engines/unified-balance/index'
import { invalid } from '#lib/errors'
import { hexOf } from '#lib/hex'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { BatchedTransfersQuery } from './batched-schema.ts'
import { hexAt } from './read-payment.ts'

/** Throws `unifiedTransferNotFound`. */
export async function getBatchedTransfer(ctx: Ctx, id: string) {
  const payment = await findUnifiedPayment(ctx.db, id)
  if (!payment)
    throw invalid({
      at: 'id',
      reason: 'matches no transfer of this server',
      value: id,
      kind: 'unifiedTransferNotFound',
    })
  return shown(payment)
}

/** Lists the payments that pass all filters, newest first. */
export async function listBatchedTransfers(
  ctx: Ctx,
  query: BatchedTransfersQuery,
  page: PageQuery,
): Promise<ListResult> {
  const { from, to, nonce, network, status } = query
  if (status !== undefined && [from, to, nonce].every((each) => each === undefined))
    throw invalid({
      at: 'status',
      reason: 'needs one of from, to and nonce beside it',
      value: status,
    })
  const chains = unifiedChains(ctx).map(({ blockchain }) => blockchain)
  const asked =
    network === undefined
      ? chains
      : chains.filter((blockchain) => networkIdOf(blockchain as Blockchain) === network)
  if (asked.length === 0)
    throw invalid({
      at: 'network',
      reason: 'is no network of GET /v1/x402/supported',
      value: network,
    })
  const filters = {
    payer: from && canonicalAddress(from),
    payee: to && canonicalAddress(to),
    nonce: nonce === undefined ? undefined : hexAt('nonce', nonce, 32),
    state: status,
  }
  const found = await pageUnifiedPayments(ctx.db, asked, filters, page)
  return { found, items: found.rows.map(shown) }
}

function shown(payment: UnifiedPayment) {
  const { id, state, blockchain, payer, payee, amountAtomic, nonce, txHash, createDate, updateDate } = payment
  const network = networkIdOf(blockchain as Blockchain)
  return {
    id,
    status: state,
    token: tokenSymbol,
    sendingNetwork: network,
    recipientNetwork: network,
    fromAddress: payer,
    toAddress: payee,
    amount: String(amountAtomic),
    nonce: hexOf(nonce),
    ...(txHash !== null && { txHash }),
    createdAt: createDate,
    updatedAt: updateDate,
  }
}

import { type ExecutionFields, requireCall } from '#api/calls/execution-request'
import { type FeeFields, parseFeeRequest } from '#api/fees/fee-request'
import { requireChain } from '#api/sources/connected-chain'
import { requireSource, type SourceFields } from '#api/sources/source'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { type CallRequest, submit } from '#engines/transactions/index'
import { invalid } from '#lib/errors'

export type ExecutionBody = SourceFields & ExecutionFields & FeeFields & { refId?: string }

/** Accepts a call of a contract, with native coins if an amount is given. */
export async function createExecution(ctx: Ctx, { body }: { body: ExecutionBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return submitExecution(ctx, body, secret)
}

/** Accepts a call that the wallet's key signs. `feeMaxAtomic` is the fee that its user approved. */
export async function submitExecution(
  ctx: Ctx,
  body: ExecutionBody,
  opener: KeyOpener,
  feeMaxAtomic?: bigint,
) {
  try {
    const request = await planExecution(ctx, body)
    return await submit(ctx, opener, { ...request, fee: { ...request.fee, feeMaxAtomic } })
  } catch (error) {
    if (!(error instanceof InsufficientFunds)) throw error
    const reason =
      'exceeds the available native coins of the wallet: fund it, or wait for pending transactions'
    throw invalid({
      at: 'amount',
      reason,
      value: body.amount,
      kind: 'insufficientBalance',
      error: 'max_value',
    })
  }
}

/** Checks a call and encodes it; nothing is reserved. */
export async function planExecution(ctx: Ctx, body: ExecutionBody): Promise<CallRequest> {
  const wallet = await requireSource(ctx, body)
  const chain = requireChain(ctx, wallet.blockchain)
  const call = requireCall(chain, body)
  const { abiFunctionSignature, abiParameters, amount, refId = '' } = body
  return {
    wallet,
    chain,
    call,
    fee: parseFeeRequest(body, chain, call, wallet.accountType),
    refId,
    shown: {
      operation: 'CONTRACT_EXECUTION',
      contractAddress: call.to,
      abiFunctionSignature,
      abiParameters,
      amountText: amount || undefined,
    },
  }
}

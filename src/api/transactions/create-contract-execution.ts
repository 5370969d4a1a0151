import { requireChain } from '#api/connected-chain'
import { type FeeFields, parseFeeRequest } from '#api/fee-request'
import { requireSource, type SourceFields } from '#api/source'
import { type EntitySecret, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/index'
import { submit } from '#engines/transactions/index'
import { invalid } from '#lib/errors'
import { type ExecutionFields, requireCall } from './execution-request.ts'

export type ExecutionBody = SourceFields & ExecutionFields & FeeFields & { refId?: string }

/** Accepts a call of a contract, with native coins if an amount is given. */
export async function createExecution(ctx: Ctx, { body }: { body: ExecutionBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  const { wallet, chain, call } = await requireExecution(ctx, body)
  const { abiFunctionSignature, abiParameters, amount, refId = '' } = body
  try {
    return await submit(ctx, secret, {
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
    })
  } catch (error) {
    if (!(error instanceof InsufficientFunds)) throw error
    const reason =
      'exceeds the available native coins of the wallet: fund it, or wait for pending transactions'
    throw invalid('amount', reason, amount, 'insufficientBalance', 'max_value')
  }
}

async function requireExecution(ctx: Ctx, body: ExecutionBody) {
  const wallet = await requireSource(ctx, body)
  const chain = requireChain(ctx, wallet.blockchain)
  return { wallet, chain, call: requireCall(chain, body) }
}

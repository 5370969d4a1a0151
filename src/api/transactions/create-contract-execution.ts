import { requireSource, type SourceFields } from '#api/source'
import { type EntitySecret, openSecretOf, spendCiphertext, type Wallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { syncBalances } from '#engines/indexer/index'
import { InsufficientFunds, nativeToken } from '#engines/ledger/index'
import { holdsAreSettled, submit } from '#engines/transactions/index'
import { invalid, Premature } from '#lib/errors'
import { available } from './available.ts'
import { type ExecutionFields, requireCall } from './execution-request.ts'
import { type FeeFields, parseFeeRequest } from './fee-request.ts'
import { requireChain } from './transfer-request.ts'

export type ExecutionBody = SourceFields & ExecutionFields & FeeFields & { refId?: string }

/** Before the `tx`: decrypting, and comparing the wallet with the chain when its books do not cover the amount. */
export async function prepareExecution(
  ctx: Ctx,
  input: { body: ExecutionBody & { entitySecretCiphertext: string } },
): Promise<EntitySecret> {
  const secret = await openSecretOf(ctx, input)
  const { wallet, chain, call } = await requireExecution(ctx, input.body)
  if (call.valueAtomic === 0n) return secret
  const native = await nativeToken(ctx.db, wallet.blockchain)
  if ((await available(ctx, wallet, native)) < call.valueAtomic)
    await syncBalances(ctx, chain, { entityId: ctx.entity.id, address: wallet.address })
  return secret
}

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
      fee: parseFeeRequest(body, chain, call.data),
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
    throw notCovered(ctx, wallet, amount)
  }
}

async function requireExecution(ctx: Ctx, body: ExecutionBody) {
  const wallet = await requireSource(ctx, body)
  const chain = requireChain(ctx, wallet.blockchain)
  return { wallet, chain, call: requireCall(chain, body) }
}

function notCovered(ctx: Ctx, { blockchain }: Wallet, amount: string | undefined): Premature {
  const reason =
    'is more than the native coins that the wallet has available: fund it or wait for what is under way'
  const refusal = invalid('amount', reason, amount, 'insufficientBalance', 'max_value')
  return new Premature(refusal, () => holdsAreSettled(ctx, blockchain))
}

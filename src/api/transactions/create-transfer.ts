import { requireChain } from '#api/connected-chain'
import { type FeeFields, parseFeeRequest } from '#api/fee-request'
import { requireSource, type SourceFields } from '#api/source'
import { type EntitySecret, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/index'
import { submit } from '#engines/transactions/index'
import { invalid } from '#lib/errors'
import { requireAmount, requireDestination, requireToken, type TokenFields } from './transfer-request.ts'

export type TransferBody = SourceFields &
  TokenFields &
  FeeFields & { destinationAddress: string; amounts?: string[]; nftTokenIds?: string[]; refId?: string }

/** Accepts a transfer of the native coin or a listed token. */
export async function createTransfer(ctx: Ctx, { body }: { body: TransferBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  if (body.nftTokenIds && body.nftTokenIds.length > 0) {
    throw invalid(
      'nftTokenIds',
      'is not supported: this server lists fungible tokens only',
      body.nftTokenIds,
      'invalidRequest',
      'not_required',
    )
  }
  const wallet = await requireSource(ctx, body)
  const chain = requireChain(ctx, wallet.blockchain)
  const token = await requireToken(ctx, body, wallet.blockchain)
  const amount = requireAmount(body.amounts ?? [], token)
  const destinationAddress = await requireDestination(ctx, body.destinationAddress, wallet.blockchain)
  const call = chain.transferCall(destinationAddress, amount.atomic, token.address ?? undefined)
  const fee = parseFeeRequest(body, chain, call)
  try {
    return await submit(ctx, secret, {
      wallet,
      chain,
      call,
      fee,
      refId: body.refId ?? '',
      token: { id: token.id, amountAtomic: amount.atomic },
      shown: {
        operation: 'TRANSFER',
        tokenId: token.id,
        destinationAddress,
        amountText: amount.text,
        amountAtomic: amount.atomic,
      },
    })
  } catch (error) {
    if (!(error instanceof InsufficientFunds)) throw error
    throw invalid(
      'amounts[0]',
      `exceeds the available ${token.symbol} of the wallet: fund it, or wait for pending transactions`,
      amount.text,
      'insufficientBalance',
      'max_value',
    )
  }
}

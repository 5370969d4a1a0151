import { requireLeaving } from '#api/calls/transfer-items'
import { requireDestination, requireToken, type TokenFields } from '#api/calls/transfer-request'
import { type FeeFields, parseFeeRequest } from '#api/fees/fee-request'
import { requireChain } from '#api/sources/connected-chain'
import { requireSource, type SourceFields } from '#api/sources/source'
import type { Blockchain } from '#chains/blockchains'
import { type EntitySecret, type KeyOpener, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { compareNow } from '#engines/tokens/index'
import { type CallRequest, submit } from '#engines/transactions/index'
import { invalid } from '#lib/errors'

export type TransferBody = SourceFields &
  TokenFields &
  FeeFields & { destinationAddress: string; amounts?: string[]; nftTokenIds?: string[]; refId?: string }

/** Accepts a transfer of the native coin, of a token, or of NFTs. */
export async function createTransfer(ctx: Ctx, { body }: { body: TransferBody }, secret: EntitySecret) {
  await spendCiphertext(ctx, secret)
  return submitTransfer(ctx, body, secret)
}

/** Accepts a transfer that the wallet's key signs. `feeMaxAtomic` is the fee that its user approved. */
export async function submitTransfer(ctx: Ctx, body: TransferBody, opener: KeyOpener, feeMaxAtomic?: bigint) {
  const { request, token, leaving } = await planTransfer(ctx, body)
  try {
    return await submit(ctx, opener, { ...request, fee: { ...request.fee, feeMaxAtomic } })
  } catch (error) {
    if (!(error instanceof InsufficientFunds)) throw error
    throw invalid({
      at: leaving.nftTokenIds ? 'amounts' : 'amounts[0]',
      reason: `exceeds the available ${token.symbol || 'token'} of the wallet: fund it, or wait for pending transactions`,
      value: leaving.nftTokenIds ? leaving.amountTexts : leaving.amountTexts[0],
      kind: 'insufficientBalance',
      error: 'max_value',
    })
  }
}

/** Checks a transfer and encodes its call; nothing is reserved. */
export async function planTransfer(ctx: Ctx, body: TransferBody) {
  const wallet = await requireSource(ctx, body)
  const chain = requireChain(ctx, wallet.blockchain)
  const token = await requireToken(ctx, body, wallet.blockchain)
  const leaving = await requireLeaving(ctx, token, body)
  const destinationAddress = requireDestination(
    body.destinationAddress,
    wallet.blockchain as Blockchain,
    token,
  )
  const call = leaving.call(chain, { from: wallet.address, to: destinationAddress })
  const fee = parseFeeRequest(body, chain, call, wallet.accountType)
  const ofUnlisted = !token.listed
  const tokens = leaving.units.map((unit) => ({ ...unit, ofUnlisted }))
  if (ofUnlisted) {
    const owner = { entityId: ctx.entity.id, address: wallet.address }
    await compareNow(
      ctx.db,
      wallet.blockchain,
      tokens.map(({ id: tokenId }) => ({ ...owner, tokenId })),
    )
  }
  const request: CallRequest = {
    wallet,
    chain,
    call,
    fee,
    refId: body.refId ?? '',
    tokens,
    shown: {
      operation: 'TRANSFER',
      tokenId: token.id,
      destinationAddress,
      amountTexts: leaving.amountTexts,
      amountAtomic: leaving.nftTokenIds ? undefined : leaving.units[0]!.amountAtomic,
      nftTokenIds: leaving.nftTokenIds,
    },
  }
  return { request, token, leaving }
}

import type { Static } from 'typebox'
import { readMoney, requirePaymentDestination } from '#api/business/disbursement'
import { requireMainWallet } from '#api/sources/source-wallet'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { lockRecipientAddress } from '#engines/treasury/address-book/index'
import { openTransfer } from '#engines/treasury/disbursements/index'
import { ApiError, invalid } from '#lib/errors'
import type { newTransferSchema } from './schema.ts'
import { showBusinessTransfer } from './show-transfer.ts'

type CreateTransferBody = Static<typeof newTransferSchema>

export async function createBusinessTransfer(ctx: Ctx, { body }: { body: CreateTransferBody }) {
  const { source, destination } = body
  const money = readMoney(body.amount, 'invalidRequest')
  requireMainWallet(ctx, 'source.id', source?.id, 'sourceAccountUnknown')
  const { addressId } = destination
  const stored = await lockRecipientAddress(ctx.db, ctx.entity.id, addressId, 'share')
  if (stored?.status !== 'active')
    throw invalid({
      at: 'destination.addressId',
      reason: 'is not verified and active',
      value: addressId,
      kind: 'addressUnverified',
    })
  const at = { chain: 'destination.addressId', address: 'destination.addressId' }
  const to = await requirePaymentDestination(ctx, at, stored, money)
  try {
    return showBusinessTransfer(await openTransfer(ctx, to), { running: ctx.config.transferRunning })
  } catch (error) {
    if (error instanceof InsufficientFunds) throw new ApiError('transferFundsInsufficient')
    throw error
  }
}

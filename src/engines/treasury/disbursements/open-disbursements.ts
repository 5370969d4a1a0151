import { hasKeyPolicy } from '#custody/policy/index'
import { managedAmong } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { placeHolds } from '#engines/ledger/holds/index'
import { announceWork } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { apiKeyIdOf } from '#runtime/auth/actor'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { insertRefund, type Payment } from '../deposits/store/payments.ts'
import { insertOutgoing, type Transfer } from '../deposits/store/transfers.ts'
import { merchantWalletIdOf } from '../merchant-wallet.ts'
import { addRefund } from '../payment-intents/refund-payment-intents.ts'
import type { PaymentIntent } from '../payment-intents/store.ts'
import { eventOf } from './end-disbursements.ts'
import type { DisbursementKind } from './store/disbursements.ts'
import { insertPayout, type Payout } from './store/payouts.ts'
import { insertRedemption, type NewRedemption } from './store/redemptions.ts'

/** The destination of a disbursement. */
export type Destination = { chain: string; blockchain: string; toAddress: string }

/** The scope of a request or of a worker that accepts a disbursement for an entity. */
type Opening = Pick<Ctx, 'database' | 'db' | 'actor' | 'requestId' | 'receivedMs' | 'afterCommit'> & {
  entity: { id: string }
}

/** The outgoing amount, in base units, and its token. */
export type Leaving = { currency: string; tokenId: string; amount: bigint }

/**
 * Accepts a payout in `ctx.db`'s tx and places a hold on the merchant's wallet. Throws `InsufficientFunds` when the available
 * balance is too low. `id` is that of a payout which was planned before.
 */
export async function openPayout(
  ctx: Opening,
  input: Destination & Leaving & Pick<Payout, 'recipientId' | 'identities' | 'purposeOfTransfer'>,
  id?: string,
): Promise<Payout> {
  const payout: Payout = {
    ...opened(ctx),
    ...(id !== undefined && { id }),
    ...input,
    status: 'pending',
    updateDate: formatInstant(ctx.receivedMs),
  }
  await insertPayout(ctx.db, payout)
  await reserve(ctx, 'payout', payout)
  return payout
}

/** Accepts a transfer to an external address of the merchant, with a hold as for a payout. */
export async function openTransfer(
  ctx: Ctx,
  input: Destination & Leaving & { decimals: number },
): Promise<Transfer> {
  const transfer: Transfer = {
    ...opened(ctx),
    ...input,
    direction: 'out',
    status: 'pending',
    fromAddress: null,
    updateDate: formatInstant(ctx.receivedMs),
  }
  await insertOutgoing(ctx.db, transfer)
  await reserve(ctx, 'transfer', transfer)
  return transfer
}

/** Accepts a refund of an intent, with a hold as for a payout. The caller has locked the intent's row. */
export async function openRefund(
  ctx: Ctx,
  intent: PaymentIntent,
  { toAddress, ...input }: Destination & Leaving & { decimals: number },
): Promise<Payment> {
  const { walletId, transactionHash, errorCode: _, ...rest } = opened(ctx)
  const refund: Payment = {
    ...rest,
    ...input,
    type: 'refund',
    status: 'pending',
    paymentIntentId: intent.id,
    merchantWalletId: walletId,
    fromAddress: null,
    depositAddress: toAddress,
    transactionHash,
    blockHash: null,
    blockNumber: null,
    updateDate: rest.createDate,
  }
  await addRefund(ctx.db, ctx.receivedMs, intent, input.amount, ctx)
  await insertRefund(ctx.db, refund)
  await reserve(ctx, 'refund', { ...refund, walletId, toAddress })
  return refund
}

/** Accepts coins to redeem, with a hold as for a payout. Returns the id. */
export async function openRedemption(
  ctx: Ctx,
  input: Omit<Destination, 'chain'> & Leaving & Pick<NewRedemption, 'bankAccountId' | 'bankAccountName'>,
): Promise<string> {
  const redemption: NewRedemption = { ...opened(ctx), ...input }
  await insertRedemption(ctx.db, redemption)
  await reserve(ctx, 'redemption', redemption)
  return redemption.id
}

const opened = ({ entity, receivedMs }: Opening) => ({
  entityId: entity.id,
  id: newId(receivedMs),
  walletId: merchantWalletIdOf(entity.id),
  transactionHash: null,
  errorCode: null,
  riskReason: null,
  waiting: null,
  review: null,
  createDate: formatInstant(receivedMs),
})

type Reserving = Pick<
  Payout,
  'entityId' | 'id' | 'walletId' | 'blockchain' | 'currency' | 'amount' | 'toAddress'
>

async function reserve(ctx: Opening, kind: DisbursementKind, disbursement: Reserving): Promise<void> {
  const { entityId, id, walletId, blockchain, currency, amount } = disbursement
  const { actor, requestId } = ctx
  await requireUnboundKey(ctx)
  const data = { status: 'pending', currency, amount: String(amount), toAddress: disbursement.toAddress }
  await recordChanges(ctx.db, ctx.receivedMs, [
    { entityId, actor, requestId, type: eventOf(kind, 'pending'), resourceId: id, data },
  ])
  // Placed last: from here on other disbursements of this wallet wait until this `tx` ends.
  await placeHolds(ctx.db, ctx.receivedMs, [
    { entityId, address: walletId, currency, intentId: id, purpose: 'money', amountAtomic: amount },
  ])
  ctx.afterCommit.push(() => announceWork(ctx.database, blockchain))
}

/**
 * Throws `policyDenied` for a key with a policy of its own: the treasury pays later, when no key asks, and the limits of the key would
 * not count it.
 */
export async function requireUnboundKey({
  db,
  entity,
  actor,
}: Pick<Opening, 'db' | 'entity' | 'actor'>): Promise<void> {
  const apiKeyId = apiKeyIdOf(actor)
  if (apiKeyId === undefined || !(await hasKeyPolicy(db, entity.id, apiKeyId))) return
  throw new ApiError(
    'policyDenied',
    `The API key ${apiKeyId} has a policy of its own, which cannot count what the treasury pays later: use another key for payouts, transfers and refunds of the business account.`,
  )
}

/** Whether no account would be credited with coins sent there: it is a treasury, or the sender's own deposit address. */
export const isOwnPocket = async (
  db: Db,
  { entityId, blockchain, address }: { entityId: string; blockchain: string; address: string },
): Promise<boolean> => (await ownPockets(db, { entityId, blockchain }, [address])).has(address)

/** Returns the addresses among these that are own pockets. */
export async function ownPockets(
  db: Db,
  { entityId, blockchain }: { entityId: string; blockchain: string },
  addresses: readonly string[],
): Promise<Set<string>> {
  const found = await managedAmong(db, blockchain, addresses)
  return new Set(
    found
      .filter((row) => row.purpose === 'treasury' || (row.purpose === 'deposit' && row.entityId === entityId))
      .map(({ address }) => address),
  )
}

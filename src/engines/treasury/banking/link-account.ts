import { randomInt } from 'node:crypto'
import { bankFingerprintOf, sealBankNumbers } from '#custody/bank-numbers/index'
import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import {
  announceOrders,
  type BankAccount,
  countPendingAccounts,
  insertBankAccount,
} from './store/accounts.ts'

type NewAccount = {
  /** `accountNumber` with `routingNumber`, or `iban`. */
  numbers: Record<string, string>
  billingDetails: Record<string, string>
  bankAddress: Record<string, string>
}

/** Letters and digits that look alike in no handwriting. */
const referenceLetters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const referenceLength = 10

/** The most accounts of an entity about which the bank has not decided: each is an order that is sent until the bank takes it. */
const pendingMax = 100

/** The end of a number, at most half of it. */
const shownEndOf = (number: string) =>
  number.slice(number.length - Math.min(4, Math.floor(number.length / 2)))

const newReference = () =>
  `BZT${Array.from({ length: referenceLength }, () => referenceLetters[randomInt(referenceLetters.length)]).join('')}`

/** Accepts an account, `pending` until the bank decides. Its number is sealed, and erased once the bank has it. */
export async function linkAccount(ctx: Ctx, { numbers, ...given }: NewAccount): Promise<BankAccount> {
  const { entity, actor, requestId, receivedMs } = ctx
  if ((await countPendingAccounts(ctx.db, entity.id)) >= pendingMax)
    throw new ApiError(
      'tooManyRequests',
      `${pendingMax} accounts wait for the bank: link the next one when it has decided about one of them.`,
    )
  const createDate = formatInstant(receivedMs)
  const id = newId(receivedMs)
  const number = numbers['iban'] ?? numbers['accountNumber']!
  const account: BankAccount = {
    ...given,
    entityId: entity.id,
    id,
    status: 'pending',
    description: `${given.bankAddress['bankName'] ?? 'Bank account'} ****${shownEndOf(number)}`,
    trackingRef: newReference(),
    fingerprint: bankFingerprintOf(ctx.custody, entity.id, numbers),
    createDate,
    updateDate: createDate,
  }
  const sealedNumber = sealBankNumbers(ctx.custody, { entityId: entity.id, id }, numbers)
  await insertBankAccount(ctx.db, { ...account, sealedNumber })
  await announceOrders(ctx.db)
  const { fingerprint } = account
  await recordChanges(ctx.db, receivedMs, [
    { entityId: entity.id, actor, requestId, type: 'wire.pending', resourceId: id, data: { fingerprint } },
  ])
  return account
}

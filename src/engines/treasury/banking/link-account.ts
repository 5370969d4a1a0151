import { randomInt } from 'node:crypto'
import { bankFingerprintOf, sealBankNumbers } from '#custody/bank-numbers/index'
import type { Ctx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import { announceOrders, type BankAccount, insertBankAccount } from './store/accounts.ts'

type NewAccount = {
  /** `accountNumber` with `routingNumber`, or `iban`. */
  numbers: Record<string, string>
  billingDetails: Record<string, string>
  bankAddress: Record<string, string>
}

/** Letters and digits that look alike in no handwriting. */
const referenceLetters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const referenceLength = 10

/** At most half of a number is shown. */
const shownDigitsOf = (number: string) => Math.min(4, Math.floor(number.length / 2))

const newReference = () =>
  `BZT${Array.from({ length: referenceLength }, () => referenceLetters[randomInt(referenceLetters.length)]).join('')}`

/** Accepts an account, `pending` until the bank decides. Its number is sealed, and erased once the bank has it. */
export async function linkAccount(ctx: Ctx, { numbers, ...given }: NewAccount): Promise<BankAccount> {
  const { entity, actor, requestId, receivedMs } = ctx
  const createDate = formatInstant(receivedMs)
  const id = newId(receivedMs)
  const number = numbers['iban'] ?? numbers['accountNumber']!
  const account: BankAccount = {
    ...given,
    entityId: entity.id,
    id,
    status: 'pending',
    description: `${given.bankAddress['bankName'] ?? 'Bank account'} ****${number.slice(-shownDigitsOf(number))}`,
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

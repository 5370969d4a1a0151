import type { Static } from 'typebox'
import { readAmount } from '#api/business/read-amount'
import { currencyDecimals } from '#engines/ledger/index'
import type { BankResult } from '#engines/treasury/banking/index'
import { invalid } from '#lib/errors'
import type { bankResultSchema } from './schema.ts'

type GivenResult = Static<typeof bankResultSchema>

/** The result of a bank. `bringsCoins`: a result that credits money has to name the transaction that brought the coins. */
export function readResult(given: GivenResult, bringsCoins: boolean): BankResult {
  const { type, entityId, errorCode, reason, trackingRef, externalRef, transactionHash } = given
  if (type === 'deposit') {
    const { currency: _, amount } = require(given, 'amount')
    return {
      type,
      entityId,
      bankAccountId: require(given, 'bankAccountId'),
      reference: require(given, 'reference'),
      amount: readAmount('amount.amount', amount, currencyDecimals, 'invalidRequest'),
      transactionHash: require(given, 'transactionHash'),
    }
  }
  const id = require(given, 'id')
  const status = require(given, 'status')
  if (type === 'account') {
    if (status === 'returned')
      throw invalid({ at: 'status', reason: 'of an account must be complete or failed', value: status })
    return { type, entityId, id, status }
  }
  if (bringsCoins && status !== 'complete') require(given, 'transactionHash')
  return {
    type,
    entityId,
    id,
    status,
    ...(errorCode && { errorCode }),
    ...(reason && { reason }),
    ...(trackingRef && { trackingRef }),
    ...(externalRef && { externalRef }),
    ...(transactionHash && { transactionHash }),
  }
}

function require<Name extends keyof GivenResult>(
  given: GivenResult,
  name: Name,
): NonNullable<GivenResult[Name]> {
  const value = given[name]
  if (value !== undefined && value !== null) return value
  throw invalid({
    at: name,
    reason: `is missing: a result of type ${given.type} needs it`,
    error: 'required',
  })
}

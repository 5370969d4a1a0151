import { bytesOf, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Call, UnsignedTransaction } from '../../facets/payments.ts'
import { ValueProblem } from '../../invalid-value.ts'
import type { Network } from '../../networks/index.ts'
import { assetTransfer, coinTransfer, encodeFunction, paymentOf } from '../encoding/functions.ts'
import {
  type CalledFunction,
  encoded,
  entryFunctionLayout,
  rawTransactionLayout,
  readExactly,
} from '../encoding/layout.ts'

const amountMax = 2n ** 64n - 1n

/** The call that moves an asset, or the native coin when `token` is absent. Its data is the function that is called, in BCS. */
export function paymentCall(to: Address, amountAtomic: bigint, token?: Address): Call {
  if (amountAtomic < 0n || amountAtomic > amountMax)
    throw new ValueProblem('amount', `must be at most ${amountMax} base units, as every amount of this chain`)
  if (token === undefined) return { to, valueAtomic: amountAtomic, data: '0x' }
  return { to: token, valueAtomic: 0n, data: hexOf(encodeFunction(assetTransfer(token, to, amountAtomic))) }
}

/** The function that a call is of; throws for what no node would execute. */
export function functionOfCall({ to, valueAtomic, data }: Call): CalledFunction {
  if (to === undefined) throw new ValueProblem('to', 'is missing: contracts are not created by a call here')
  if (data === '0x') return coinTransfer(to, valueAtomic)
  if (valueAtomic !== 0n)
    throw new ValueProblem('value', 'must be 0: a function takes coins by its arguments')
  const called = readExactly(entryFunctionLayout, bytesOf(data))
  if (called) return called
  throw new ValueProblem('data', 'must be the BCS of an entry function, and nothing behind it')
}

/** The call that a function is of. A payment of coins to one address carries no data, as on any chain. */
export function callOfFunction(called: CalledFunction): Call {
  const payment = paymentOf(called)
  const [first] = payment?.recipients ?? []
  if (first && encodeFunction(coinTransfer(first.to, first.amountAtomic)).equals(encodeFunction(called)))
    return { to: first.to, valueAtomic: first.amountAtomic, data: '0x' }
  const isTransfer = called.module.name === 'primary_fungible_store'
  const to = payment && isTransfer ? payment.asset : called.module.address
  return { to, valueAtomic: 0n, data: hexOf(encodeFunction(called)) }
}

/** Whole seconds of the chain's clock from which a transaction cannot be executed. */
const expirationOf = ({ expiresMs }: Pick<UnsignedTransaction, 'expiresMs'>): bigint => {
  if (expiresMs === undefined || expiresMs % 1_000 !== 0)
    throw new Error('a transaction of this chain has an expiry, in whole seconds')
  return BigInt(expiresMs / 1_000)
}

export function rawTransaction({ chainId }: Network, transaction: UnsignedTransaction): Buffer {
  const { from, nonce, gasLimit, maxFeeAtomic } = transaction
  return encoded(rawTransactionLayout, {
    sender: from,
    sequenceNumber: BigInt(nonce),
    payload: { entryFunction: functionOfCall(transaction) },
    maxGasAmount: gasLimit,
    gasUnitPrice: maxFeeAtomic,
    expirationSeconds: expirationOf(transaction),
    chainId,
  })
}

/**
 * The same transaction at a higher price: what pools take in the place of one that waits. Payload, limit and expiry stay, since
 * a pool refuses any other change, and since proof that one of them is dead is proof for all.
 */
export const dearer = (
  transaction: UnsignedTransaction,
  { maxFeeAtomic }: { maxFeeAtomic: bigint },
): UnsignedTransaction => ({ ...transaction, maxFeeAtomic, priorityFeeAtomic: maxFeeAtomic })

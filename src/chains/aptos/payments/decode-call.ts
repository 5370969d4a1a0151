import { isHex } from '#lib/hex'
import type { Effects } from '../../facets/call-effects.ts'
import type { Call } from '../../facets/payments.ts'
import { nativeAsset } from '../encoding/addresses.ts'
import { functionName, paymentOf } from '../encoding/functions.ts'
import { functionOfCall } from './build.ts'

/** Decodes what a call pays to whom. A function that is not known may do anything with the coins of its signer. Never throws. */
export function decodeAptosCall(blockchain: string, call: Call): Effects {
  try {
    if (!isHex(call.data)) return undecodable
    const called = functionOfCall(call)
    const payment = paymentOf(called)
    const contract = called.module.address
    if (!payment) {
      const selector = functionName(called)
      return { ...undecodable, effects: [{ kind: 'call', blockchain, contract, selector, known: false }] }
    }
    const token = payment.asset === nativeAsset ? 'native' : payment.asset
    const transfers = payment.recipients.map(
      ({ to: destination, amountAtomic }) =>
        ({ kind: 'transfer', blockchain, token, destination, amountAtomic }) as const,
    )
    return { effects: transfers, dangers: [], parties: [] }
  } catch {
    return undecodable
  }
}

const undecodable: Effects = { effects: [], dangers: ['undecodable'], parties: [] }

import type { Hex } from '#lib/hex'
import { sequenceOf } from './execute.ts'
import { issuerAddress, type Order, signOrder } from './issuer.ts'
import { type Ledger, ledgerSeconds, submitToPool } from './ledger.ts'
import { readState } from './state.ts'

/** The pool keeps orders as long as other transactions; a later expiry lets time leap before their block. */
const expiresInS = 10n ** 9n

/** Sends a transaction of the issuer after those that wait already, and returns its hash. */
export function sendOrder(ledger: Ledger, order: Order): Hex {
  const waiting = ledger.pool.all().filter(({ transaction }) => transaction.sender === issuerAddress)
  const sequence = waiting.reduce(
    (next, { transaction }) => (transaction.sequence >= next ? transaction.sequence + 1n : next),
    sequenceOf(readState(ledger.state), issuerAddress),
  )
  const expiryS = ledgerSeconds(ledger) + expiresInS
  return submitToPool(ledger, signOrder(order, { sequence, expiryS, chainId: ledger.chainId })).hash as Hex
}

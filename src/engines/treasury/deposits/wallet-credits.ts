import { currencyDecimals, type Posting, post, walletEntries } from '#engines/ledger/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { merchantWalletIdOf } from '../merchant-wallet.ts'
import { deleteCredits, insertCredits } from './store/credits.ts'
import type { Deposit, DepositKind } from './types.ts'

/** Credits the merchants' wallets with settled deposits, each once; their coins can be swept from then on. */
export async function creditWallets(
  tx: Db,
  nowMs: number,
  kind: DepositKind,
  deposits: readonly Deposit[],
): Promise<void> {
  if (deposits.length === 0) return
  await insertCredits(tx, deposits, formatInstant(nowMs))
  await post(
    tx,
    nowMs,
    deposits.map((deposit) => postingOf(deposit, `${kind}:${deposit.id}`, 1n)),
  )
}

/** Reverts the credits of deposits whose block was orphaned. A wallet that has spent them already owes the amount. */
export async function revertCredits(
  tx: Db,
  nowMs: number,
  kind: DepositKind,
  deposits: readonly Deposit[],
): Promise<void> {
  if (deposits.length === 0) return
  await deleteCredits(tx, deposits)
  await post(
    tx,
    nowMs,
    deposits.map((deposit) => postingOf(deposit, `${kind}:${deposit.id}:orphaned`, -1n)),
  )
}

function postingOf(deposit: Deposit, fact: string, sign: 1n | -1n): Posting {
  const { entityId, currency, decimals, amount } = deposit
  if (decimals !== currencyDecimals)
    throw new Error(`${currency} has ${currencyDecimals} decimals, not ${decimals}`)
  const entries = walletEntries(merchantWalletIdOf(entityId), currency, sign * amount)
  return { entityId, blockchain: '', blockHash: '', fact, entries }
}

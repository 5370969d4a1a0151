import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { balancesOf, nativeToken } from '#engines/ledger/index'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import type { TreasuryRow } from './store/treasuries.ts'

/** Gives native coins to an address of a local chain. */
export type Fuel = (blockchain: string, address: `0x${string}`) => Promise<unknown>

/** What a transfer or sweep uses at most, generously. */
const gasPerTransaction = 200_000n
/** A treasury with less than so many transactions' worth is filled, or somebody is told. */
const reserveTransactions = 20n
const againAfterMs = 5_000

/** What one transaction from a treasury may cost now, in base units of the native coin. */
export async function transactionCost(chain: Chain): Promise<bigint> {
  return gasPerTransaction * feeAt(await suggestedFees(chain), 'MEDIUM').maxFeeAtomic
}

/** `low`: it pays for this transaction, and not for many more. */
export async function gasOf(
  db: Db,
  { entityId, blockchain, address }: TreasuryRow,
  costAtomic: bigint,
): Promise<'plenty' | 'low' | 'none'> {
  const native = await nativeToken(db, blockchain)
  const balances = await balancesOf(db, entityId, blockchain, [address])
  const coins = balances.find(({ tokenId }) => tokenId === native.id)
  const leftAtomic = coins ? coins.postedAtomic - coins.heldAtomic : 0n
  if (leftAtomic >= reserveTransactions * costAtomic) return 'plenty'
  return leftAtomic >= costAtomic ? 'low' : 'none'
}

const askedAtMs = new Map<string, number>()

/** Has a treasury that runs low filled by the sandbox's faucet; elsewhere an alarm names it, and what it has to pay waits. */
export async function refuel(
  ctx: EngineCtx,
  chain: Chain,
  { entityId, blockchain, address }: TreasuryRow,
  fuel: Fuel | undefined,
): Promise<void> {
  const key = `${blockchain}:${address}`
  const askedMs = askedAtMs.get(key)
  if (askedMs !== undefined && performance.now() - askedMs < againAfterMs) return
  askedAtMs.set(key, performance.now())
  if (chain.local && fuel) await fuel(blockchain, address)
  else
    raiseAlarm(
      ctx.log,
      'treasury-low-on-gas',
      { entityId, blockchain, address },
      'fund the treasury with native coins: without them payouts, transfers and sweeps wait',
    )
}

import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import { highestCostOf } from '#chains/prices'
import type { EngineCtx } from '#engines/ctx'
import { coinsByUse, type HeldAmount } from '#engines/ledger/index'
import { nativeTokenId } from '#engines/ledger/tokens/index'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import type { TreasuryRow } from './store/treasuries.ts'

/** Gives native coins to an address of a local chain. */
export type GasFaucet = (blockchain: string, address: string) => Promise<unknown>

/** Generous upper bound of the gas of a transfer or sweep of the business account, or of the units of one. */
const gasPerTransaction = 200_000n
/** Number of transactions that a treasury keeps gas for. With less it is refilled, or raises an alarm. */
const reserveTransactions = 20n
const againAfterMs = 5_000
/** A local faucet pays at once, and the coins of before are gone after the restore of a snapshot. */
const againAfterLocalMs = 500

/** Returns the maximum cost of one transaction that a treasury pays for now, in base units of the native coin. */
export async function transactionCost(chain: Chain): Promise<bigint> {
  // Elsewhere a treasury pays for payments of wallets alone.
  const { businessAccount } = capabilitiesOf(chain.network.blockchain)
  const gas = businessAccount ? gasPerTransaction : chain.offers.quotedGas(undefined)
  return highestCostOf(chain, gas, feeAt(await suggestedFees(chain), 'MEDIUM').maxFeeAtomic)
}

export const gasLevels = ['plenty', 'low', 'none'] as const
/** `low`: enough for one transaction, but below the reserve. */
export type GasLevel = (typeof gasLevels)[number]

/** Classifies the gas of a treasury. */
export async function treasuryGas(db: Db, treasury: TreasuryRow, costAtomic: bigint): Promise<GasLevel> {
  return levelOf(await freeCoinsOf(db, treasury), costAtomic)
}

export const gasLevelOf = ({ postedAtomic, heldAtomic }: HeldAmount, costAtomic: bigint): GasLevel =>
  levelOf(postedAtomic - heldAtomic, costAtomic)

function levelOf(leftAtomic: bigint, costAtomic: bigint): GasLevel {
  if (leftAtomic >= reserveTransactions * costAtomic) return 'plenty'
  return leftAtomic >= costAtomic ? 'low' : 'none'
}

/** The native coins of a treasury that nothing has reserved. */
export async function freeCoinsOf(db: Db, treasury: TreasuryRow): Promise<bigint> {
  const { postedAtomic, heldAtomic } = await coinsForGas(db, treasury)
  return postedAtomic - heldAtomic
}

/** The native coins of a treasury that are for its gas: where these are a stablecoin, those that no merchant owns. */
export async function coinsForGas(
  db: Db,
  { entityId, blockchain, address }: TreasuryRow,
): Promise<HeldAmount> {
  const tokenId = nativeTokenId(blockchain)
  return (await coinsByUse(db, { entityId, address, tokenId })).forGas
}

/** Times of the last request for gas of a treasury, and of the last alarm. */
type GasRequests = { askedMs: number; alarmedMs: number | undefined }

/** Several installations in one process have treasuries of the same addresses. */
const asked = new WeakMap<Chain, Map<string, GasRequests>>()

/** Time without a request after which the next one begins anew: coins came meanwhile. */
const overMs = 10 * 60_000
/** Time after which an alarm whose cause lasts is raised again. */
const remindMs = 60 * 60_000

/** Refills a treasury that runs low from the sandbox's faucet; elsewhere raises an alarm, and its payments wait. */
export async function refillGas(
  ctx: EngineCtx,
  chain: Chain,
  { entityId, blockchain, address }: TreasuryRow,
  gasFaucet: GasFaucet | undefined,
): Promise<void> {
  const ofChain = asked.get(chain) ?? new Map<string, GasRequests>()
  asked.set(chain, ofChain)
  const before = ofChain.get(address)
  const nowMs = performance.now()
  const restMs = chain.local ? againAfterLocalMs : againAfterMs
  if (before && nowMs - before.askedMs < restMs) return
  const last = before && nowMs - before.askedMs < overMs ? before.alarmedMs : undefined
  const isFaucetAsked = chain.local && gasFaucet
  const alarms = !isFaucetAsked && (last === undefined || nowMs - last >= remindMs)
  ofChain.set(address, { askedMs: nowMs, alarmedMs: alarms ? nowMs : last })
  if (isFaucetAsked) await gasFaucet(blockchain, address)
  if (alarms)
    raiseAlarm(
      ctx.log,
      'treasury-low-on-gas',
      { entityId, blockchain, address },
      'fund the treasury with native coins: without them payouts, transfers and sweeps wait',
    )
}

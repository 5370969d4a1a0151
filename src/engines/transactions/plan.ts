import type { Chain } from '#chains/chain'
import type { AbiError } from '#chains/facets/contracts'
import type { FeeSuggestion, GasEstimate } from '#chains/facets/offers'
import type { Network } from '#chains/networks/index'
import { networkFeeOf } from '#chains/prices'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import { syncBalances } from '#engines/indexer/reconciliation/index'
import { balancesOf } from '#engines/ledger/index'
import { nativeTokenId } from '#engines/ledger/tokens/index'
import { formatAmount } from '#lib/amounts'
import { groupBy } from '#lib/group-by'
import type { Db } from '#runtime/db/db'
import { createFailureCounts } from '#runtime/scheduling/failure-counts'
import { oncePer } from '#runtime/scheduling/memoize'
import { defer } from '#runtime/turns/store'
import { errorsOfCall } from './contract-errors.ts'
import { estimateCovered, feePayerOf } from './fee-payers.ts'
import { currentFees, type Fee, feeAt, feeMaxOf, suggestedFees } from './fees.ts'
import { callOf } from './intent.ts'
import { logProviderFailure } from './provider-failures.ts'
import { oldestOperation } from './store/operations.ts'
import {
  oldestInFlight,
  type QueuedTransaction,
  showWaitReason,
  type WaitingTransaction,
} from './store/transactions.ts'

/** The fee and gas limit of one waiting transaction, or the reason for which it fails. */
export type Plan =
  | { row: WaitingTransaction; fee: Fee; gasLimit: bigint; depositAtomic: bigint }
  | { row: WaitingTransaction; failure: { reason: string; details: string } }

/** A plan to sign. */
export type Ready = Extract<Plan, { gasLimit: bigint }>

/** The terms that decide what a transaction costs. `depositAtomic`: see `GasEstimate`. */
type PricedCall = {
  fee: Pick<Fee, 'maxFeeAtomic'>
  gasLimit: bigint
  depositAtomic?: bigint | undefined
  hasFeePayer?: boolean
}

/** The highest fee of a transaction, in the smallest unit of the native coin. */
export const highestFeeOf = (
  { blockchain }: Network,
  { fee, gasLimit, hasFeePayer = false }: PricedCall,
): bigint => networkFeeOf(blockchain, { gasLimit, priceAtomic: fee.maxFeeAtomic, hasFeePayer })

/** The most that a transaction takes from the payer of its fee. */
export const costOf = (network: Network, priced: PricedCall): bigint =>
  highestFeeOf(network, priced) + (priced.depositAtomic ?? 0n)

/** Up to this many rows of a sender, each transfer is estimated separately; a longer backlog uses one estimate for each kind. */
const estimatedEachMax = 20

/** Number of consecutive undecided estimates of each transaction. */
const undecidedTimesOn = oncePer((_chain: Chain) => createFailureCounts())

/**
 * Simulates the waiting transactions of senders of one entity and sets their gas limit and fee, outside any database transaction.
 * Undecided ones are left out: a transaction that only a provider failure blocks waits until the failure ends.
 */
export async function planWaiting(
  ctx: EngineCtx,
  chain: Chain,
  rows: readonly QueuedTransaction[],
  pricesOf = suggestedFees,
): Promise<Plan[]> {
  const { blockchain } = chain.network
  const [suggestion, oldest] = await Promise.all([
    pricesOf(chain).catch((error: Error) => error),
    // Read before the simulations, so that a transaction mined meanwhile still counts as in flight.
    oldestOpen(ctx.database, blockchain, rows),
  ])
  if (suggestion instanceof Error) {
    await reportUndecided(ctx, chain, rows, suggestion.message)
    return []
  }
  const outcomes = await simulate(ctx, chain, rows, suggestion)
  const planned = [...groupBy(outcomes, ({ row }) => row.address)].flatMap(([address, own]) =>
    decided(own, oldest.get(address)),
  )
  // The price may have fallen since it was read: no transaction fails because of an outdated price.
  if (pricesOf === suggestedFees && planned.some(exceedsFeeMax))
    return planWaiting(ctx, chain, rows, currentFees)
  await refreshFunds(ctx, chain, planned)
  return planned
}

/** The oldest transaction of each sender that is signed and in no block yet. */
async function oldestOpen(
  db: Db,
  blockchain: string,
  rows: readonly QueuedTransaction[],
): Promise<ReadonlyMap<string, string>> {
  const [first] = rows
  if (!first) return new Map()
  if (!first.ofAccount) return oldestInFlight(db, blockchain, first.entityId, addressesOf(rows))
  const id = await oldestOperation(db, blockchain, first)
  return new Map(id === undefined ? [] : [[first.address, id]])
}

const addressesOf = (rows: readonly WaitingTransaction[]) => [...new Set(rows.map(({ address }) => address))]

type Reverted = { kind: 'reverted'; message: string }
type Undecided = { kind: 'unknown'; message: string }
type Estimate =
  | { kind: 'gas'; gas: bigint; depositAtomic: bigint }
  | { kind: 'reverted' | 'refused' | 'poor'; message: string }
  | Undecided
type PlanOutcome = { row: WaitingTransaction; plan: Plan | undefined; reverts: boolean }

async function simulate(
  ctx: EngineCtx,
  chain: Chain,
  rows: readonly QueuedTransaction[],
  suggestion: FeeSuggestion,
): Promise<PlanOutcome[]> {
  const kinds = new Map<string, Promise<Estimate>>()
  const bySender = groupBy(rows, ({ address }) => address)
  const undecided: { row: QueuedTransaction; said: string }[] = []
  const outcomes = await Promise.all(
    rows.map(async (row): Promise<PlanOutcome> => {
      if (row.isDeferred) return { row, plan: undefined, reverts: false }
      const kind = `${row.address} ${kindOf(chain, row)}`
      const known = bySender.get(row.address)!.length > estimatedEachMax ? kinds.get(kind) : undefined
      const fee = feeOf(row, suggestion, chain)
      const own = known ?? estimateOf(ctx, chain, row, fee)
      if (!known) kinds.set(kind, own)
      const shared = await own
      // The failure of the first of a kind proves nothing about the others: their recipients may differ.
      const estimate = known && isVerdict(shared) ? await estimateOf(ctx, chain, row, fee) : shared
      const plan = planOf(chain, row, fee, estimate)
      if (!plan && estimate.kind === 'unknown') undecided.push({ row, said: estimate.message })
      else undecidedTimesOn(chain).ended(row.id)
      return { row, plan, reverts: estimate.kind === 'reverted' }
    }),
  )
  await deferUndecided(ctx, chain, undecided)
  return outcomes
}

const isVerdict = ({ kind }: Estimate) => kind !== 'gas' && kind !== 'unknown'

/** Defers each one separately: the sender continues with its others in their order, as long as one of them can proceed. */
async function deferUndecided(
  ctx: EngineCtx,
  chain: Chain,
  undecided: readonly { row: QueuedTransaction; said: string }[],
): Promise<void> {
  const [first] = undecided
  if (!first) return
  const nowMs = ctx.clock.nowMs()
  const rows = undecided.map(({ row }) => row)
  const deferrals = rows.map(({ entityId, id, createDate }) => {
    return { entityId, key: id, waitedMs: nowMs - Date.parse(createDate) }
  })
  await defer(ctx.database, 'signing', chain.network.blockchain, deferrals)
  await reportUndecided(ctx, chain, rows, first.said)
}

/** Logs the failure for the operator, and shows it to the owners of the rows once it is not the first one for any of them. */
async function reportUndecided(
  ctx: EngineCtx,
  chain: Chain,
  rows: readonly WaitingTransaction[],
  said: string,
): Promise<void> {
  const tries = Math.max(...rows.map(({ id }) => undecidedTimesOn(chain).failed(id)))
  logProviderFailure(ctx, chain, { doing: 'estimating', said, tries })
  const why = `no node of ${chain.network.blockchain} can estimate the gas now: the estimate is repeated until one can`
  if (tries > 1) await showWaitReason(ctx.database, ctx.clock.nowMs(), rows, why)
}

/** Transfers of one token cost about the same; the cost of a contract call is known only for that very call. */
function kindOf({ offers }: Chain, row: WaitingTransaction): string {
  const { id, operation, callData, callTo } = row
  if (operation !== 'TRANSFER') return id
  return offers.kindOf?.(callOf(row)) ?? `${callData.length === 0 ? 'coins' : 'token'}:${callTo}`
}

/**
 * A call that reverts now may succeed after earlier transactions of its sender, such as an approval. It waits for them: its
 * revert counts only when no earlier one is in flight.
 */
function decided(outcomes: readonly PlanOutcome[], oldest: string | undefined): Plan[] {
  let waitsForEarlier = false
  return outcomes.flatMap(({ row, plan, reverts }) => {
    const tooEarly = reverts && (waitsForEarlier || (oldest !== undefined && oldest < row.id))
    if (!plan || tooEarly || 'fee' in plan) waitsForEarlier = true
    return plan && !tooEarly ? [plan] : []
  })
}

/**
 * Returns the plan, or `undefined` while it is undecided. Only a revert, a rule of the chain or the fee cap fails a
 * transaction.
 */
function planOf(chain: Chain, row: WaitingTransaction, fee: Fee, estimate: Estimate): Plan | undefined {
  if (row.gasLimit !== null && estimate.kind !== 'reverted') {
    const depositAtomic = estimate.kind === 'gas' ? estimate.depositAtomic : 0n
    return withinCap(chain, { row, fee, gasLimit: row.gasLimit, depositAtomic })
  }
  if (estimate.kind === 'unknown' || (estimate.kind === 'poor' && row.ofTreasury)) return undefined
  if (estimate.kind === 'gas') {
    const { gas: gasLimit, depositAtomic } = estimate
    return withinCap(chain, { row, fee, gasLimit, depositAtomic })
  }
  const reason = estimate.kind === 'poor' ? 'INSUFFICIENT_NATIVE_TOKEN' : 'ESTIMATION_ERROR'
  return { row, failure: { reason, details: estimate.message } }
}

export const feeExceedsMax = 'FEE_EXCEEDS_MAX_ALLOWANCE'
const exceedsFeeMax = (plan: Plan) => 'failure' in plan && plan.failure.reason === feeExceedsMax

/** Fails a plan whose fee can exceed that of any transaction, or what its user approved: a fee left to the chain is not paid at any price. */
function withinCap({ network }: Chain, plan: Extract<Plan, { gasLimit: bigint }>): Plan {
  const most = plan.row.feeMax ?? feeMaxOf(network)
  const highest = highestFeeOf(network, plan)
  if (highest <= most) return plan
  const details = `the fee of up to ${coinsText(network, highest)} exceeds the maximum of ${coinsText(network, most)}`
  return { row: plan.row, failure: { reason: feeExceedsMax, details } }
}

/** An amount of the native coin, in whole coins. */
export const coinsText = ({ nativeToken }: Network, atomic: bigint): string =>
  `${formatAmount(atomic, nativeToken.decimals)} ${nativeToken.symbol}`

function feeOf(row: WaitingTransaction, suggestion: FeeSuggestion, { network }: Chain): Fee {
  if (row.feeLevel !== null || row.maxFee === null) return feeAt(suggestion, row.feeLevel ?? 'MEDIUM')
  const { maxFee: maxFeeAtomic } = row
  // One price, which is paid as it is.
  if (network.feeModel !== 'eip1559')
    return { baseFeeAtomic: 0n, maxFeeAtomic, priorityFeeAtomic: maxFeeAtomic }
  return {
    baseFeeAtomic: suggestion.baseFeeAtomic,
    maxFeeAtomic,
    priorityFeeAtomic: row.priorityFee ?? 0n,
  }
}

async function estimateOf(
  ctx: EngineCtx,
  chain: Chain,
  row: WaitingTransaction,
  fee: Fee,
): Promise<Estimate> {
  // The contract that it upgrades to may not exist before the treasury bundles it, nor the account itself.
  if (row.newCore !== null) return gasOf(row.gasLimit!)
  const isTransfer = row.operation === 'TRANSFER'
  const isCoin = isTransfer && row.callData.length === 0
  const estimate = await simulated(ctx, chain, row)
  if (estimate.kind === 'estimated') {
    const kind = isCoin ? 'coins' : isTransfer ? 'token' : 'call'
    return gasOf(chain.offers.limitOf(estimate.gas, kind), estimate.depositAtomic)
  }
  if (estimate.kind === 'reverted' && !isTransfer) return explained(ctx, chain, row, estimate.message)
  const { kind, message } = estimate
  if (kind !== 'insufficient-funds') return { kind, message }
  // The node may count existing coins as reserved; the gas of a plain transfer is known without asking it.
  if (isCoin) return gasOf(chain.offers.limitOf(chain.offers.intrinsicGas(callOf(row)), 'coins'))
  const { depositAtomic = 0n } = estimate
  return { kind: (await lacksCoins(ctx, chain, row, { fee, depositAtomic })) ? 'poor' : 'unknown', message }
}

/** Whether a transaction calls no contract that its customer chose. */
export const isSimple = ({ operation, ofTreasury }: WaitingTransaction): boolean =>
  operation === 'TRANSFER' || ofTreasury

const gasOf = (gas: bigint, depositAtomic = 0n): Estimate => ({ kind: 'gas', gas, depositAtomic })

/**
 * Simulates a transaction. A call of a contract that its customer chose may use much gas: it takes a turn of its entity, so that
 * the others of the round are not delayed.
 */
const simulated = (
  { database }: EngineCtx,
  chain: Chain,
  row: WaitingTransaction,
  errors?: readonly AbiError[],
): Promise<GasEstimate> => {
  const isOwn = isSimple(row)
  const asked = isOwn ? chain : chain.onBehalfOf({ name: row.entityId, part: 'signing' })
  const estimate = row.ofAccount
    ? asked.offers.estimateGas(row.address, callOf(row), { errors })
    : estimateCovered(database, asked, row, callOf(row), errors)
  if (isOwn) return estimate
  return estimate.catch((error: Error) => ({ kind: 'unknown', message: error.message }))
}

/** The same verdict, with the errors that the contract declares by name. Only a call that reverts needs them. */
async function explained(
  ctx: EngineCtx,
  chain: Chain,
  row: WaitingTransaction,
  message: string,
): Promise<Reverted> {
  const errors = await errorsOfCall(ctx.database, chain, row)
  if (errors.length === 0) return { kind: 'reverted', message }
  const again = await simulated(ctx, chain, row, errors)
  return { kind: 'reverted', message: again.kind === 'reverted' ? again.message : message }
}

/**
 * Whether there is too little at the last applied block for the coins that are sent and the least gas of any such call, which the
 * treasury may pay. A node behind that block may just not know of the coins.
 */
async function lacksCoins(
  ctx: EngineCtx,
  chain: Chain,
  row: WaitingTransaction,
  { fee, depositAtomic }: Omit<PricedCall, 'gasLimit'>,
): Promise<boolean> {
  const { address, callValue } = row
  const gasLimit = chain.offers.limitOf(chain.offers.intrinsicGas(callOf(row)), 'coins')
  const cost = costOf(chain.network, { fee, gasLimit, depositAtomic })
  const payer = row.ofAccount ? undefined : await feePayerOf(ctx.database, chain, row)
  const head = await canonicalHead(ctx.database, chain.network.blockchain)
  if (!head) return false
  const coinsOf = (owner: string) => chain.balances.of(owner, undefined, head)
  const reading = Promise.all([coinsOf(address), payer && coinsOf(payer.address)])
  return reading.then(
    ([own, ofPayer = 0n]) => own < callValue + cost && (own < callValue || ofPayer < cost),
    () => false,
  )
}

/** Books coins that arrived without a transfer before any transaction fails for insufficient funds. */
async function refreshFunds(ctx: EngineCtx, chain: Chain, plans: readonly Plan[]): Promise<void> {
  const [first] = plans
  if (!first || first.row.ofAccount) return
  const { entityId } = first.row
  const { blockchain } = chain.network
  const nativeId = nativeTokenId(blockchain)
  const bySender = groupBy(plans, ({ row }) => row.address)
  const balances = await balancesOf(ctx.database, entityId, blockchain, [...bySender.keys()])
  for (const [address, own] of bySender) {
    const needed = own.reduce((sum, plan) => sum + ('fee' in plan ? costOf(chain.network, plan) : 0n), 0n)
    const balance = balances.find((row) => row.address === address && row.tokenId === nativeId)
    if ((balance?.postedAtomic ?? 0n) - (balance?.heldAtomic ?? 0n) >= needed) continue
    await syncBalances(ctx, chain, { entityId, address })
  }
}

import { accountsOn } from '#chains/facets/optional'
/**
 * Bundles signed user operations. The treasury of an entity executes the operations of its accounts in transactions of its
 * own, which the transaction engine signs, sends, accelerates and follows like all others, and gets the gas back from the
 * deposit of its paymaster. A bundle is simulated first: an operation that would make it fail is taken out and waits, or is
 * signed again, and delays no other. Operations of a bundle that ended without them go into another one; the EntryPoint
 * executes each of them once at most.
 */

import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import type { UserOperation } from '#chains/facets/accounts'
import { operationFromJson } from '#chains/operation-json'
import { WalletFrozen } from '#custody/freezes/index'
import type { EngineCtx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { announceWork, feeAt, noteStates, priceNow, suggestedFees } from '#engines/transactions/index'
import {
  accountTrouble,
  denyListedOperations,
  findSponsor,
  lockWaiting,
  markBundled,
  signAgain,
  type WaitingOperation,
  waitingOperations,
} from '#engines/transactions/operations/index'
import { smaller } from '#lib/amounts'
import { failpoint } from '#runtime/scheduling/failpoints'
import { defer, type Turn } from '#runtime/turns/store'
import { actingFor } from '../act-for-entity.ts'
import { freeCoinsOf, type GasFaucet, refillGas, treasuryGas } from '../gas.ts'
import { treasuryOf } from '../sponsor.ts'
import type { TreasuryRow } from '../store/treasuries.ts'
import { availableDeposit, coveredBy } from './fund-paymaster.ts'
import { submitCall } from './submit-call.ts'

/** Operations that are claimed at once, and those of one bundle. */
const claimedMax = 200
const bundledMax = 40
/** Gas of one bundle, well below what a block of any supported chain takes. */
const bundleGasMax = 12_000_000n
/** One with others, and one alone. */
const failedBundlesMax = 2

type Bundleable = WaitingOperation & { parsed: UserOperation }

/** Bundles waiting operations, those of each entity apart. True when it bundled some. */
export async function bundleWaiting(
  ctx: EngineCtx,
  chain: Chain,
  turn: Turn,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const { blockchain } = chain.network
  const claimed = await waitingOperations(ctx.database, turn, blockchain, claimedMax)
  const entities = new Set(claimed.map(({ entityId }) => entityId))
  let did = false
  for (const entityId of entities) {
    const waiting = claimed
      .filter((row) => row.entityId === entityId)
      .map((row) => ({ ...row, parsed: operationFromJson(row.operation) }))
    // The trouble of one entity must not delay the others.
    const outcome = await bundleOf(ctx, chain, entityId, waiting, gasFaucet).catch((error): BundleOutcome => {
      if (!(error instanceof WalletFrozen) && !(error instanceof InsufficientFunds))
        ctx.log.error({ err: error, entityId, blockchain }, 'cannot bundle operations yet; will retry')
      return 'blocked'
    })
    did ||= outcome === 'bundled' || outcome === 'set aside'
    if (outcome === 'blocked') await postpone(ctx, chain, waiting)
  }
  return did
}

const postpone = (ctx: EngineCtx, chain: Chain, rows: readonly Bundleable[]) =>
  defer(
    ctx.database,
    'bundling operations',
    chain.network.blockchain,
    rows.map(({ entityId, id, createDate }) => {
      return { entityId, key: id, waitedMs: ctx.clock.nowMs() - Date.parse(createDate) }
    }),
  )

/**
 * `set aside`: none of the chosen operations can be executed now, and they alone are deferred. `calling`: the treasury's own
 * calls are under way, whose end wakes the loop.
 */
type BundleOutcome = 'bundled' | 'set aside' | 'calling' | 'blocked'

/** Bundles the first of the operations of an entity; the others go into the next bundle. */
async function bundleOf(
  ctx: EngineCtx,
  chain: Chain,
  entityId: string,
  waiting: readonly Bundleable[],
  gasFaucet: GasFaucet | undefined,
): Promise<BundleOutcome> {
  const { blockchain } = chain.network
  const sponsor = await findSponsor(ctx.database, entityId, blockchain)
  if (!sponsor) throw new Error(`entity ${entityId} has no sponsor on ${blockchain}`)
  // Neither a deposit nor a bundle goes to an EntryPoint that is none.
  if (await accountTrouble(ctx, chain, 'bundling')) return 'blocked'
  const treasury = treasuryOf(sponsor, capabilitiesOf(blockchain).keys!)
  const { maxFeeAtomic } = feeAt(await suggestedFees(chain), 'MEDIUM')
  const coinsAtomic = await freeCoinsOf(ctx.database, treasury)
  const ready = await withoutUnderpriced(ctx, chain, await withoutSpoilers(ctx, chain, waiting))
  const chosen = firstOf(chain, treasury, ready, maxFeeAtomic > 0n ? coinsAtomic / maxFeeAtomic : coinsAtomic)
  await refillFor(ctx, chain, treasury, chosen.length > 0 ? chosen : ready, gasFaucet)
  if (chosen.length === 0) {
    for (const row of ready.filter((each) => hasWaitedLong(ctx, each)))
      await setAside(ctx, chain, row, 'the treasury had no coins for the gas of its bundle')
    return 'blocked'
  }
  const spareAtomic = coinsAtomic - gasOfBundle(chain, treasury, chosen) * maxFeeAtomic
  const depositAtomic = await availableDeposit(ctx, chain, treasury, chosen, spareAtomic)
  if (depositAtomic === 'calling') return 'calling'
  const covered = coveredBy(chosen, depositAtomic)
  if (covered.length === 0) {
    await refillGas(ctx, chain, treasury, gasFaucet)
    await postpone(ctx, chain, chosen)
    return 'set aside'
  }
  const passing = await passingOf(ctx, chain, treasury, covered)
  if (passing.length === 0) return 'set aside'
  const isBundled = await ctx.database.tx(async (tx) => {
    const locked = new Set((await lockWaiting(tx, passing)).map(({ id }) => id))
    const allowed = await denyListedOperations(
      tx,
      ctx,
      chain,
      passing.filter(({ id }) => locked.has(id)),
    )
    const rows = passing.filter(({ id }) => allowed.has(id))
    if (rows.length === 0) return false
    const operations = rows.map(({ parsed }) => parsed)
    const call = accountsOn(chain).bundleCall(operations, treasury.address)
    const scope = actingFor(ctx, tx, treasury)
    const gasLimit = accountsOn(chain).bundleGas(operations, treasury.address)
    const bundleId = await submitCall(scope, chain, treasury, 'bundle', { ...call, gasLimit })
    const sent = await markBundled(tx, ctx.clock.nowMs(), rows, bundleId)
    await noteStates(ctx, tx, sent, 'SENT')
    failpoint('before-treasury-commit')
    return true
  })
  failpoint('after-treasury-commit')
  if (!isBundled) {
    // Screening keeps these operations out of every bundle: without a pause they would be chosen first again.
    await postpone(ctx, chain, passing)
    return 'set aside'
  }
  await announceWork(ctx.database, blockchain)
  return 'bundled'
}

/**
 * The first operations, as many as fit into one bundle. One whose bundles failed goes alone, and so does one that its account pays for:
 * the account can spend its coins before the block, or have another bundle execute it, and spoils no bundle of others. Those that
 * need more gas than the treasury can pay for now are passed by.
 */
function firstOf(
  chain: Chain,
  treasury: TreasuryRow,
  waiting: readonly Bundleable[],
  payableGas: bigint,
): Bundleable[] {
  const gasAlone = (row: Bundleable) => gasOfBundle(chain, treasury, [row])
  const payable = waiting.filter((row) => gasAlone(row) <= payableGas)
  const [first] = payable
  const goesAlone = (row: Bundleable) => row.failedBundles > 0 || isPaidByAccount(row)
  if (first && goesAlone(first)) return [first]
  const fresh = payable.filter((row) => !goesAlone(row))
  let [limits, gas] = [0n, 0n]
  const end = fresh.findIndex((row, index) => {
    limits += accountsOn(chain).gasLimitOf(row.parsed)
    gas += gasAlone(row)
    return index > 0 && (index >= bundledMax || limits > bundleGasMax || gas > payableGas)
  })
  return fresh.slice(0, end < 0 ? fresh.length : end)
}

/** The gas that the treasury needs coins for: where the fee for data takes no gas, limits have it in their overhead. */
function gasOfBundle(chain: Chain, { address }: TreasuryRow, rows: readonly Bundleable[]): bigint {
  const accounts = accountsOn(chain)
  const operations = rows.map(({ parsed }) => parsed)
  const limits = operations.reduce((sum, operation) => sum + accounts.gasLimitOf(operation), 0n)
  const gas = accounts.bundleGas(operations, address)
  return gas > limits ? gas : limits
}

/**
 * Ends external operations that pass each simulation and make each block's bundle fail: the code of an account can tell the one
 * from the other, and the treasury pays for the bundle. Returns the others.
 */
async function withoutSpoilers(ctx: EngineCtx, chain: Chain, waiting: readonly Bundleable[]) {
  const isSpoiler = ({ isExternal, failedBundles }: Bundleable) =>
    isExternal && failedBundles >= failedBundlesMax
  for (const row of waiting.filter(isSpoiler))
    await setAside(ctx, chain, row, `${row.failedBundles} bundles with it failed in their blocks`)
  return waiting.filter((row) => !isSpoiler(row))
}

/** Time in which an operation that its account pays for has to be bundled: no promise ends it, and its owner learns why it waits. */
const unpromisedMs = 20 * 60_000

/** Whether another paymaster than that of the treasury is charged: it takes what the account pays. */
const isPaidByAccount = ({ isExternal, requiredDepositAtomic }: Bundleable) =>
  isExternal && requiredDepositAtomic === 0n

const hasWaitedLong = ({ clock }: EngineCtx, row: Bundleable) =>
  isPaidByAccount(row) && clock.nowMs() - Date.parse(row.createDate) > unpromisedMs

/** Returns the operations that pay the treasury for their part of a bundle now; the others wait for a lower price. */
async function withoutUnderpriced(ctx: EngineCtx, chain: Chain, waiting: readonly Bundleable[]) {
  if (!waiting.some(isPaidByAccount)) return waiting
  // A price of before is the treasury's loss.
  const suggestion = await suggestedFees(chain, { maxAgeMs: 0 })
  const low = feeAt(suggestion, 'LOW')
  // Its tip was enough when it was accepted, and later blocks may have had higher ones: the base fee decides.
  const priceOf = ({ parsed: { priorityFeeAtomic } }: Bundleable) =>
    priceNow(suggestion, { ...low, priorityFeeAtomic: smaller(priorityFeeAtomic, low.priorityFeeAtomic) })
  const isUnderpriced = (row: Bundleable) => isPaidByAccount(row) && row.parsed.maxFeeAtomic < priceOf(row)
  for (const row of waiting.filter((each) => isUnderpriced(each) && hasWaitedLong(ctx, each)))
    await setAside(
      ctx,
      chain,
      row,
      `the price of gas stayed above its maxFeePerGas, and is ${priceOf(row)} now`,
    )
  return waiting.filter((row) => !isUnderpriced(row))
}

/** Refills the treasury where its coins pay for few bundles like this one. */
async function refillFor(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  rows: readonly Bundleable[],
  gasFaucet: GasFaucet | undefined,
): Promise<void> {
  if (rows.length === 0) return
  const { maxFeeAtomic } = feeAt(await suggestedFees(chain), 'MEDIUM')
  const found = await treasuryGas(ctx.database, treasury, gasOfBundle(chain, treasury, rows) * maxFeeAtomic)
  if (found !== 'plenty') await refillGas(ctx, chain, treasury, gasFaucet)
}

/** Codes of the EntryPoint for what passes by itself: a nonce that a block has used, a deposit that is short. */
const passing = /^AA(25|21|31)\b/

/** The operations that can be executed together now; the others wait, or are signed again. */
async function passingOf(
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  chosen: readonly Bundleable[],
): Promise<Bundleable[]> {
  let left = [...chosen]
  while (left.length > 0) {
    const operations = left.map(({ parsed }) => parsed)
    const outcome = await accountsOn(chain).simulate(operations, treasury.address)
    if (outcome.kind === 'passes') return left
    if (outcome.kind === 'unknown') throw new Error(`a bundle cannot be simulated: ${outcome.message}`)
    // An account whose answer cannot be read makes the EntryPoint revert without naming it: the first operation is tried
    // alone, and the others with the next bundle.
    if (outcome.kind === 'reverted' && left.length > 1) {
      left = left.slice(0, 1)
      continue
    }
    const { index, reason } = outcome.kind === 'failed' ? outcome : { index: 0, reason: outcome.message }
    const failing = left[index]
    if (!failing) throw new Error(`a bundle fails without an operation: ${reason}`)
    left = left.filter((row) => row !== failing)
    await setAside(ctx, chain, failing, reason)
  }
  return []
}

async function setAside(ctx: EngineCtx, chain: Chain, failing: Bundleable, reason: string): Promise<void> {
  const { blockchain } = chain.network
  const { entityId, id, createDate } = failing
  ctx.log.warn({ entityId, id, blockchain, reason }, 'an operation cannot be executed now')
  await postpone(ctx, chain, [failing])
  if (passing.test(reason) && !hasWaitedLong(ctx, failing)) return
  const nowMs = ctx.clock.nowMs()
  await ctx.database.tx(async (tx) => {
    if ((await lockWaiting(tx, [failing])).length === 0) return
    const details = failing.isExternal ? reason : `its operation is signed again: ${reason}`
    await signAgain(tx, nowMs, [failing], details)
    await defer(tx, 'signing', blockchain, [{ entityId, key: id, waitedMs: nowMs - Date.parse(createDate) }])
  })
  if (failing.isExternal) await announceWork(ctx.database, blockchain)
}

/**
 * Compares the books with the chains continuously: at each newly complete block the addresses that moved since the last one,
 * and in a slow round every managed address. A difference of one base unit raises an alarm; native coins from the internal
 * call of a contract, which leave no log, are booked as a difference when they are found. An address that held coins before it
 * was followed is compared from the block on at which these were booked.
 */

import type { Chain } from '#chains/chain'
import { managedAfter } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { endAlarm, raiseAlarm } from '#runtime/log/alarms'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { type Loop, logTrouble, repeat } from '#runtime/scheduling/loop'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { isHalted } from '../halt.ts'
import { highestFinal } from '../store/steps.ts'
import { type CompleteBlock, compareBalances, completeBlock, isGap, isStillCanonical } from './reconcile.ts'
import { settledRead } from './settled-read.ts'
import {
  addressesMovedBetween,
  type BalanceGap,
  claimReconciliation,
  endOpeningBalances,
  ensureReconciliation,
  finishReconciliation,
  type OwnedAddress,
  openedPlaces,
  type ReconciliationProgress,
  recordAgreements,
  recordGaps,
} from './store.ts'
import { comparedTokens, syncNativeBalance } from './sync-balances.ts'

const leaseMs = 30_000
/** Number of addresses that each turn takes from the slow round, and maximum number of those that moved. */
const roundSize = 10
const movedMax = 200
/** Minimum interval between comparisons of a busy chain: providers charge by the request. */
const restMs = 5_000

/** Starts comparing all chains; `stop` waits for the comparison under way. */
export function startReconciler(ctx: EngineCtx): Service {
  const loops = ctx.chains.list().map((chain): Loop => {
    const { blockchain } = chain.network
    let dueMs = 0
    const whenProgress = succeedOnce(() => ensureReconciliation(ctx.database, blockchain))
    return repeat(
      async () => {
        if (performance.now() < dueMs) return false
        await whenProgress()
        if (await turn(ctx, chain)) dueMs = performance.now() + restMs
        return false
      },
      logTrouble(ctx.log, 'comparing the books with a chain', { blockchain }),
    )
  })
  return serviceOf(loops)
}

/** Compares one chain. False when there is nothing to compare, or another process is comparing it. */
async function turn(ctx: EngineCtx, chain: Chain): Promise<boolean> {
  const { blockchain } = chain.network
  if (await isHalted(ctx.database, blockchain)) return false
  const block = await completeBlock(ctx, blockchain)
  if (!block) return false
  const before = await claimReconciliation(ctx.database, blockchain, block.number, leaseMs)
  if (!before) return false
  let after = before
  try {
    after = await compareOn(ctx, chain, block, before)
  } catch (error) {
    // After a reorg the node may no longer have the block: the block in its place is compared instead.
    if (await isStillCanonical(ctx, chain, block)) throw error
  } finally {
    const comparedDate = after === before ? null : formatInstant(ctx.clock.nowMs())
    await finishReconciliation(ctx.database, blockchain, after, comparedDate)
  }
  return after !== before
}

async function compareOn(
  ctx: EngineCtx,
  chain: Chain,
  block: CompleteBlock,
  before: ReconciliationProgress,
): Promise<ReconciliationProgress> {
  const { blockchain } = chain.network
  const tokens = await comparedTokens(ctx, chain)
  const moved = await addressesMovedBetween(
    ctx.database,
    blockchain,
    before.blockNumber,
    block.number,
    movedMax,
  )
  const round = await managedAfter(
    ctx.database,
    blockchain,
    { address: before.roundAddress, entityId: before.roundEntityId },
    roundSize,
  )
  let places = await openedPlaces(
    ctx.database,
    ctx.clock.nowMs(),
    blockchain,
    block.number,
    distinct([...moved, ...round]),
  )
  let equal: BalanceGap[] | undefined
  const gaps = await settledRead(
    chain.blocks,
    block.number,
    async () => {
      const balances = await compareBalances(ctx, chain, block, tokens, places)
      const differing = balances.filter(isGap)
      equal ??= balances.filter((balance) => !isGap(balance))
      places = distinct(differing)
      return differing
    },
    (found) => found.length > 0,
  )
  if (gaps.length > 0 && !(await isStillCanonical(ctx, chain, block))) return before
  const native = tokens.find((token) => token.isNative)!
  await raise(ctx, chain, block, native.id, gaps)
  await endGaps(ctx, blockchain, block, equal ?? [])
  await endOpeningBalances(ctx.database, blockchain, await highestFinal(ctx.database, blockchain))
  const last = round.length < roundSize ? undefined : round.at(-1)
  return {
    // If more addresses moved than one turn takes, the slow round covers the rest.
    blockNumber: block.number,
    roundAddress: last?.address ?? '',
    roundEntityId: last?.entityId ?? '00000000-0000-0000-0000-000000000000',
  }
}

const distinct = (places: readonly OwnedAddress[]): OwnedAddress[] => [
  ...new Map(
    places.map(({ entityId, address }) => [`${entityId}${address}`, { entityId, address }]),
  ).values(),
]

async function raise(
  ctx: EngineCtx,
  chain: Chain,
  block: CompleteBlock,
  nativeId: string,
  gaps: readonly BalanceGap[],
): Promise<void> {
  const { blockchain } = chain.network
  const received = gaps.filter(
    ({ tokenId, bookedAtomic, onChainAtomic }) => tokenId === nativeId && onChainAtomic > bookedAtomic,
  )
  for (const owner of received) await syncNativeBalance({ ...ctx, db: ctx.database }, chain, owner)
  const wrong = gaps.filter((gap) => !received.includes(gap))
  const nowMs = ctx.clock.nowMs()
  for (const { entityId, address, tokenId, ...amounts } of await recordGaps(
    ctx.database,
    nowMs,
    blockchain,
    block,
    wrong,
  ))
    raiseAlarm(
      ctx.log,
      'books-differ',
      {
        blockchain,
        blockNumber: block.number,
        entityId,
        address,
        tokenId,
        bookedAtomic: String(amounts.bookedAtomic),
        onChainAtomic: String(amounts.onChainAtomic),
      },
      'the books differ from the chain: see bezant reconcile',
    )
}

async function endGaps(
  ctx: EngineCtx,
  blockchain: string,
  block: CompleteBlock,
  equal: readonly BalanceGap[],
): Promise<void> {
  if (equal.length === 0) return
  const ended = await recordAgreements(ctx.database, ctx.clock.nowMs(), blockchain, block, equal)
  for (const balance of ended)
    endAlarm(
      ctx.log,
      'books-differ',
      { blockchain, blockNumber: block.number, ...balance },
      'the books equal the chain again',
    )
}

/**
 * Moves an entity's coins to a chain whose treasury is short of them, by a message that this server attests, where the
 * entity's policy allows it. Each step is a row and a transaction of the treasury in one `tx`: the record of the shortage, the
 * allowance, the burn, and the mint, which the engine of messages asks for. Disbursements wait for coins that
 * are on their way, however long; they do not depend on a rebalancing that failed.
 */
import type { Chain } from '#chains/chain'
import { attestationKeyInUse } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { isHalted } from '#engines/indexer/index'
import { announceWork } from '#engines/transactions/index'
import { journalsAreAwaited } from '#engines/transactions/journal/index'
import { larger } from '#lib/amounts'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { actor } from '../act-for-entity.ts'
import { treasuriesOf } from '../store/treasuries.ts'
import { type Coins, sweepingAmount, unsweptAmount } from '../sweeping/store.ts'
import { treasuryCoins } from '../treasuries.ts'
import { endOf, type RebalancingEnd } from './ends.ts'
import {
  findPolicy,
  insertRebalancing,
  isRebalanced,
  isSource,
  lockRebalancings,
  type RebalancingPolicy,
} from './store.ts'

/** The amount of these coins that disbursements wait for. */
export type RequiredAmount = (tx: Db, coins: Coins) => Promise<bigint>

/** Delay after a rebalancing failed; shorter on a local chain, where trouble passes sooner. */
const failedRestMs = 600_000
const failedRestLocalMs = 3_000

/** Records a rebalancing for the shortage of these coins, where one is allowed and possible. */
export async function rebalanceShortage(
  ctx: EngineCtx,
  chain: Chain,
  coins: Coins & { id: string },
  required: RequiredAmount,
): Promise<void> {
  const target = endOf(ctx, chain)
  if (target?.token.id !== coins.tokenId) return
  // Most entities have no policy: then nothing is locked.
  if (!(await findPolicy(ctx.database, coins.entityId))) return
  const source = await ctx.database.tx((tx) => open(ctx, tx, target, coins, required))
  if (source === undefined) return
  failpoint('after-rebalancing-commit')
  await announceWork(ctx.database, source)
}

/** Returns the chain that the coins will come from. */
async function open(
  ctx: EngineCtx,
  tx: Db,
  target: RebalancingEnd,
  coins: Coins & { id: string },
  required: RequiredAmount,
): Promise<string | undefined> {
  const { entityId, blockchain } = coins
  await lockRebalancings(tx, entityId)
  const policy = await findPolicy(tx, entityId)
  const restMs = target.chain.local ? failedRestLocalMs : failedRestMs
  if (!policy || (await isRebalanced(tx, coins, restMs))) return undefined
  // A rebalancing for this shortage may be in a journal.
  if (await journalsAreAwaited(tx)) return undefined
  // Without a key nothing would come out of the burn for now.
  if (!(await attestationKeyInUse(tx, 'message')) || (await isHalted(tx, blockchain))) return undefined
  const short = await shortageOf(tx, coins, required)
  if (short <= 0n) return undefined
  const source = await richestSource(ctx, tx, { target, coins, short, policy, required })
  if (!source) return undefined
  const nowMs = ctx.clock.nowMs()
  const rebalancing = {
    entityId,
    id: newId(nowMs),
    status: 'collecting' as const,
    currency: target.token.currency,
    sourceBlockchain: source.end.blockchain,
    sourceTokenId: source.end.token.id,
    blockchain,
    tokenId: coins.tokenId,
    amount: least(short, source.spare, policy.messageMax),
    createDate: formatInstant(nowMs),
  }
  await insertRebalancing(tx, rebalancing)
  const data = { from: source.end.blockchain, to: blockchain, amount: String(rebalancing.amount) }
  await recordChanges(tx, nowMs, [
    { entityId, actor, requestId: coins.id, type: 'rebalancing.pending', resourceId: rebalancing.id, data },
  ])
  failpoint('before-rebalancing-commit')
  return source.end.blockchain
}

/**
 * How many of these coins disbursements lack. Others pay, and coins arrive, between two statements: with the coins read before and
 * after, what was paid or arrived meanwhile makes no shortage.
 */
export async function shortageOf(tx: Db, coins: Coins, required: RequiredAmount): Promise<bigint> {
  const before = await coinsAt(tx, coins)
  const amount = await required(tx, coins)
  return amount - larger(before, await coinsAt(tx, coins))
}

/** The coins of an entity on a chain that its treasury there has, or can sweep. */
export async function coinsAt(tx: Db, coins: Coins): Promise<bigint> {
  const treasury = (await treasuriesOf(tx, coins.entityId)).find(
    ({ blockchain }) => blockchain === coins.blockchain,
  )
  const there = treasury ? await treasuryCoins(tx, treasury, coins.tokenId) : 0n
  return there + (await sweepingAmount(tx, coins)) + (await unsweptAmount(tx, coins))
}

type SpareCoins = { end: RebalancingEnd; spare: bigint }

const least = (...amounts: [bigint, ...bigint[]]) =>
  amounts.reduce((least, each) => (each < least ? each : least))

type Shortage = {
  target: RebalancingEnd
  coins: Coins
  short: bigint
  policy: RebalancingPolicy
  required: RequiredAmount
}

/** The chain with the most coins to spare, if all chains together cover the whole shortage. */
async function richestSource(
  ctx: EngineCtx,
  tx: Db,
  { target, coins, short, policy, required }: Shortage,
): Promise<SpareCoins | undefined> {
  let best: SpareCoins | undefined
  let total = 0n
  for (const chain of ctx.chains.list()) {
    const end = endOf(ctx, chain)
    if (!end || end.blockchain === target.blockchain) continue
    const there = { entityId: coins.entityId, blockchain: end.blockchain, tokenId: end.token.id }
    if ((await isSource(tx, there)) || (await isHalted(tx, end.blockchain))) continue
    const spare = (await coinsAt(tx, there)) - (await required(tx, there)) - policy.reserve
    if (spare <= 0n) continue
    total += spare
    if (spare > (best?.spare ?? 0n)) best = { end, spare }
  }
  return total >= short ? best : undefined
}

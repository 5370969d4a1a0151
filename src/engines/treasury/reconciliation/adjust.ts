/**
 * Closes gaps between the ledger and the chains that no block will close, such as coins that reached a treasury's address
 * before the treasury was opened, or the differences of a deep reorg that an operator accepted. Each adjustment has a name, a
 * reason and an actor, and is posted against accounts of its own (docs/decisions/0031). Nothing else posts to the ledger by
 * hand.
 */
import { createHash } from 'node:crypto'
import type { Chain } from '#chains/chain'
import { paysForGas } from '#chains/network'
import { requireNetwork } from '#chains/networks/index'
import { managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { lockUnchangedGaps, type Reconciliation, reconcile } from '#engines/indexer/reconciliation/index'
import {
  adjustmentEntries,
  currencyDecimals,
  type Posting,
  post,
  unclaimedEntries,
} from '#engines/ledger/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { proveMoney } from './money-proof.ts'
import { type AdjustmentRow, insertAdjustments, lockAdjustments } from './store/adjustments.ts'
import { type MoneyGap, moneySums } from './store/money-proof.ts'

/** An amount to add to the ledger, in base units. An adjustment of money has no blockchain and no address. */
export type Adjustment = Omit<AdjustmentRow, 'id' | 'reason' | 'actor' | 'createDate'> & {
  /** Symbol and decimals to display the amount with. */
  symbol: string
  decimals: number
  /** The coins pay for gas, and those that the books did not have are no merchant's. */
  isUnclaimed?: true
}

/** Every gap found and the adjustments that close it. The same gaps have the same `id`, regardless of other activity. */
export type AdjustmentPlan = {
  id: string
  adjustments: Adjustment[]
  proofs: Reconciliation[]
  moneyGaps: MoneyGap[]
}

/** A gap has changed since the plan was shown. Nothing was booked. */
export class GapChanged extends Error {
  constructor() {
    super('a gap has changed since it was shown, and nothing was booked: review the plan again')
  }
}

/** Compares these chains and the merchants' money with the ledger, for all entities or one. Writes nothing. */
export async function planAdjustments(
  ctx: EngineCtx,
  chains: readonly Chain[],
  entityId?: string,
): Promise<AdjustmentPlan> {
  const isMeant = (gap: { entityId: string }) => entityId === undefined || gap.entityId === entityId
  const proofs: Reconciliation[] = []
  for (const chain of chains) {
    const proof = await reconcile(ctx, chain)
    proofs.push({ ...proof, gaps: proof.gaps.filter(isMeant) })
  }
  const moneyGaps = (await proveMoney(ctx.db)).gaps.filter(isMeant)
  const coins = (await Promise.all(proofs.map((proof) => coinsIn(ctx.db, proof)))).flat()
  const money = moneyBehind(coins, moneyGaps)
  const adjustments = [...coins.map(({ adjustment }) => adjustment), ...money]
  return { id: idOf(adjustments), adjustments, proofs, moneyGaps }
}

/** Coins to adjust. `isPlatform`: they are at a deposit address or treasury, and so back the money of merchants. Unclaimed ones do not. */
type CoinAdjustment = { adjustment: Adjustment; isPlatform: boolean; currency: string | null }

async function coinsIn(db: Db, { blockchain, tokens, gaps }: Reconciliation): Promise<CoinAdjustment[]> {
  const places = await managedAmong(
    db,
    blockchain,
    gaps.map(({ address }) => address),
  )
  return gaps.map(({ entityId, address, tokenId, onChainAtomic, bookedAtomic }) => {
    const { token } = tokens.find((each) => each.token.id === tokenId)!
    const place = places.find((each) => each.address === address && each.entityId === entityId)
    const { symbol, decimals } = token
    const amount = onChainAtomic - bookedAtomic
    const isPlatform = place?.purpose === 'deposit' || place?.purpose === 'treasury'
    const isUnclaimed = isPlatform && paysForGas(requireNetwork(blockchain), tokenId)
    const adjusted = { entityId, blockchain, address, tokenId, currency: null, amount, symbol, decimals }
    return {
      adjustment: { ...adjusted, ...(isUnclaimed && { isUnclaimed }) },
      isPlatform: isPlatform && !isUnclaimed,
      currency: token.currency,
    }
  })
}

/**
 * Returns the gap that remains between coins and money once the coins are corrected: it belongs to no merchant, or is
 * missing.
 */
function moneyBehind(coins: readonly CoinAdjustment[], gaps: readonly MoneyGap[]): Adjustment[] {
  const behind = coins.flatMap(({ adjustment: { entityId, amount }, isPlatform, currency }) =>
    isPlatform && currency !== null ? [{ entityId, currency, gap: amount }] : [],
  )
  const sums = new Map<string, Adjustment>()
  for (const { entityId, currency, gap } of [...gaps, ...behind]) {
    const key = `${entityId}:${currency}`
    const amount = (sums.get(key)?.amount ?? 0n) + gap
    const unit = { symbol: currency, decimals: currencyDecimals }
    sums.set(key, { entityId, blockchain: '', address: '', tokenId: null, currency, amount, ...unit })
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n)
}

function idOf(adjustments: readonly Adjustment[]): string {
  const lines = adjustments.map(({ entityId, blockchain, address, tokenId, currency, amount }) =>
    [entityId, blockchain, address, tokenId ?? currency, amount].join(),
  )
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 12)
}

/** Books all of a plan or nothing. Throws `GapChanged` when one of its gaps has changed since. */
export async function bookAdjustments(
  ctx: EngineCtx,
  plan: AdjustmentPlan,
  by: { actor: string; reason: string },
): Promise<AdjustmentRow[]> {
  return ctx.database.tx(async (tx) => {
    await lockAdjustments(tx)
    for (const proof of plan.proofs) if (!(await lockUnchangedGaps(tx, proof))) throw new GapChanged()
    await requireMoneyGaps(tx, plan)
    const nowMs = ctx.clock.nowMs()
    const createDate = formatInstant(nowMs)
    const booked = plan.adjustments.map(({ symbol: _, decimals: __, isUnclaimed = false, ...adjustment }) => {
      return { row: { ...adjustment, ...by, id: newId(nowMs), createDate }, isUnclaimed }
    })
    const rows = booked.map(({ row }) => row)
    await insertAdjustments(tx, rows)
    await post(
      tx,
      nowMs,
      booked.map(({ row, isUnclaimed }) => postingOf(row, isUnclaimed)),
    )
    await recordChanges(tx, nowMs, rows.map(changeOf))
    return rows
  })
}

/** Requires that the money gaps of each merchant in the plan are unchanged. Throws `GapChanged`. */
async function requireMoneyGaps(tx: Db, { adjustments, moneyGaps }: AdjustmentPlan): Promise<void> {
  const now = (await moneySums(tx)).gaps
  for (const entityId of new Set(adjustments.map((adjustment) => adjustment.entityId)))
    if (gapsOf(now, entityId) !== gapsOf(moneyGaps, entityId)) throw new GapChanged()
}

const gapsOf = (gaps: readonly MoneyGap[], entityId: string): string =>
  gaps
    .filter((gap) => gap.entityId === entityId)
    .map(({ currency, gap }) => `${currency} ${gap}`)
    .sort()
    .join()

const postingOf = (
  { entityId, id, blockchain, address, tokenId, currency, amount }: AdjustmentRow,
  isUnclaimed: boolean,
): Posting => ({
  entityId,
  blockchain,
  // No block, so that no reorg reverts it.
  blockHash: '',
  fact: `adjustment:${id}`,
  entries: [
    ...adjustmentEntries(tokenId === null ? { currency: currency! } : { tokenId, address }, amount),
    ...(isUnclaimed && tokenId !== null ? unclaimedEntries(address, { tokenId }, amount) : []),
  ],
})

const changeOf = ({ entityId, id, actor, amount, createDate: _, ...adjustment }: AdjustmentRow) => ({
  entityId,
  actor,
  type: 'books.adjusted',
  resourceId: id,
  data: { ...adjustment, amount: String(amount) },
})

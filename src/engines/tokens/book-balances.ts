import type { EngineCtx } from '#engines/ctx'
import { type OpenHold, openUnlistedHolds, postHolds } from '#engines/ledger/holds/index'
import { bookedAmounts, driftPosting, post, type UnlistedBalance } from '#engines/ledger/index'
import { failUnsentTransactions, holdsAreSettled, lockUnsigned, minedUpTo } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { proveReceived } from './prove-transfers.ts'
import { type BlockOfChain, finishChecks, keyOf, lockChecks, type ToldBalance } from './store.ts'

/**
 * Brings balances in line with their contracts at a block, in one `tx`: ends the holds of what has left, fails unsigned
 * transactions of what is not there any more, and then books the drift. Returns the balances that it brought in line.
 */
export const bookBalances = (
  ctx: EngineCtx,
  block: BlockOfChain,
  told: readonly ToldBalance[],
  nowMs: number,
): Promise<readonly UnlistedBalance[]> =>
  ctx.database.tx(async (tx) => {
    const due = await lockChecks(tx, told, block)
    if (due.length === 0) return []
    const answers = new Map(told.map((row) => [keyOf(row), row]))
    // Read before the holds: what was sent counts only once its block is followed.
    const isSettled = await holdsAreSettled(tx, block.blockchain)
    const allHolds = await openUnlistedHolds(tx, due)
    const sending = new Set(isSettled ? [] : allHolds.map(keyOf))
    const locked = due.filter((row) => !sending.has(keyOf(row)))
    const holds = isSettled ? allHolds : []
    const open = await endCoveredHolds(tx, nowMs, block, holds)
    const isOpen = new Set(open)
    const sent = sumsOf(holds.filter((hold) => !isOpen.has(hold)))
    const held = await failOverdrawn(ctx, tx, answers, open)
    const booked = await bookedAmounts(tx, locked)
    const drifts = locked.map((row, index) => answers.get(keyOf(row))!.amountAtomic - booked[index]!)
    await post(
      tx,
      nowMs,
      locked.flatMap((row, index) =>
        drifts[index] === 0n ? [] : [driftPosting(row, block, drifts[index]!, nowMs)],
      ),
    )
    const undecided = await proveReceived(
      ctx,
      tx,
      block,
      locked.map((row, index) => {
        const risenAtomic = row.risenAtomic + drifts[index]! + (sent.get(keyOf(row)) ?? 0n)
        return { ...row, unit: answers.get(keyOf(row))!.unit, risenAtomic }
      }),
    )
    const isHeld = new Set(held.map(keyOf))
    await finishChecks(
      tx,
      locked.map((row, index) => {
        const changed = drifts[index] !== 0n
        const waitedMs = changed ? 0 : row.waitedMs
        const left = undecided.get(keyOf(row))
        const pauseMs = pauseOf(isHeld.has(keyOf(row)), answers.get(keyOf(row))!.amountAtomic, waitedMs)
        return { ...row, changed, risenAtomic: left ?? 0n, pauseMs: left === undefined ? pauseMs : 0 }
      }),
      block.number,
    )
    failpoint('before-balance-commit')
    return locked
  })

function sumsOf(holds: readonly OpenHold[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const hold of holds) sums.set(keyOf(hold), (sums.get(keyOf(hold)) ?? 0n) + hold.amountAtomic)
  return sums
}

/** Pauses of a balance that a transaction holds, and of one that its contract may change by itself. */
export const heldMs = { min: 500, max: 60_000 }
const idleMs = { min: 10_000, max: 86_400_000 }

function pauseOf(isHeld: boolean, amountAtomic: bigint, waitedMs: number): number | undefined {
  if (isHeld) return Math.round(Math.min(heldMs.max, Math.max(heldMs.min, waitedMs / 10)))
  return amountAtomic === 0n ? undefined : Math.min(idleMs.max, Math.max(idleMs.min, waitedMs))
}

/** Ends the holds of transactions in blocks whose effects the balances include; returns the other holds. */
export async function endCoveredHolds(
  tx: Db,
  nowMs: number,
  { number }: { number: number },
  holds: readonly OpenHold[],
): Promise<OpenHold[]> {
  if (holds.length === 0) return []
  const mined = await minedUpTo(tx, holds.map(refOf), number)
  const ended = new Set(mined.map(({ id }) => id))
  await postHolds(
    tx,
    nowMs,
    holds.filter(({ intentId }) => ended.has(intentId)),
  )
  return holds.filter(({ intentId }) => !ended.has(intentId))
}

const refOf = ({ entityId, intentId }: OpenHold) => ({ entityId, id: intentId })

/**
 * Fails unsigned transactions, the newest first, until the others are covered. The chain decides about those that are signed.
 * Returns the holds that stay.
 */
async function failOverdrawn(
  ctx: EngineCtx,
  tx: Db,
  answers: ReadonlyMap<string, ToldBalance>,
  holds: readonly OpenHold[],
): Promise<OpenHold[]> {
  const excess = new Map<string, bigint>()
  for (const hold of holds)
    excess.set(
      keyOf(hold),
      (excess.get(keyOf(hold)) ?? -answers.get(keyOf(hold))!.amountAtomic) + hold.amountAtomic,
    )
  if (![...excess.values()].some((over) => over > 0n)) return [...holds]
  const unsigned = new Set((await lockUnsigned(tx, holds.map(refOf))).map(({ id }) => id))
  const failed = new Set<string>()
  for (const hold of holds) {
    if (excess.get(keyOf(hold))! <= 0n || !unsigned.has(hold.intentId)) continue
    failed.add(hold.intentId)
    for (const each of holds.filter(({ intentId }) => intentId === hold.intentId))
      excess.set(keyOf(each), excess.get(keyOf(each))! - each.amountAtomic)
    unsigned.delete(hold.intentId)
  }
  const refs = new Map(holds.map((hold) => [hold.intentId, refOf(hold)]))
  await failUnsentTransactions(
    tx,
    ctx,
    [...failed].map((id) => ({
      ...refs.get(id)!,
      reason: 'INSUFFICIENT_TOKEN_BALANCE',
      details: 'the token contract lowered the balance of the wallet below the amount',
    })),
  )
  return holds.filter(({ intentId }) => !failed.has(intentId))
}

import { bookedAmount, paysForGas, stablecoinIn } from '#chains/network'
import { type Network, requireNetwork } from '#chains/networks/index'
import type { EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import type { ObservedTransfer } from '#engines/indexer/observed/index'
import { availableForFees } from '#engines/ledger/holds/index'
import { claimedEntries, post, type UnclaimedCoins } from '#engines/ledger/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { merchantWalletIdOf } from '../merchant-wallet.ts'
import { requireTreasury } from '../treasuries.ts'
import type { RequestOrigin } from '../types.ts'
import {
  announceWire,
  endMint,
  insertWire,
  lockArrivedWires,
  lockCompleteWires,
  setTransaction,
  setWires,
  type Wire,
} from './store/fiat-deposits.ts'

type NewWire = RequestOrigin & {
  network: Network
  currency: string
  amount: bigint
  decimals: number
  trackingRef: string
  accountNumber: string
  bankAccountId: string | null
  /** The redemption whose money comes back, where this is no wire of a customer. */
  redemptionId?: string
  /** The name that the bank has for it. */
  bankReference?: string
  /** The transaction that brings the coins to the treasury; without it they are minted. */
  transactionHash?: string | undefined
}

/**
 * Accepts a wire, or the return of a redemption: its coins come to the entity's treasury on a chain, and it is credited once they
 * are complete there. False when it was accepted before.
 */
export async function acceptWire(ctx: EngineCtx, input: NewWire): Promise<boolean> {
  const { network, actor: by, requestId, redemptionId = null, bankReference = null, ...wire } = input
  const { entityId, currency, amount } = wire
  const { blockchain, address } = await requireTreasury(ctx, entityId, network)
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const walletId = merchantWalletIdOf(entityId)
  const transactionHash = wire.transactionHash ?? null
  const place = { walletId, blockchain, address, createDate, updateDate: createDate }
  const deposit = { ...wire, ...place, id: newId(nowMs), redemptionId, bankReference, transactionHash }
  if (!(await insertWire(ctx.db, deposit))) return false
  await announceWire(ctx.db)
  const data = { amount: String(amount), currency }
  const type = `${resourceOf(deposit)}.pending`
  await recordChanges(ctx.db, nowMs, [{ entityId, actor: by, requestId, resourceId: deposit.id, type, data }])
  return true
}

/**
 * Names another transaction for a wire whose coins have not arrived with the one named before. False when that brings the coins of
 * another wire.
 */
export async function correctWire(
  ctx: Pick<EngineCtx, 'clock'> & Omit<RequestOrigin, 'entityId'> & { db: Db },
  wire: Wire,
  transactionHash: string,
): Promise<boolean> {
  const { db, actor: by, requestId } = ctx
  const nowMs = ctx.clock.nowMs()
  if (!(await setTransaction(db, wire, transactionHash, formatInstant(nowMs)))) return false
  await announceWire(db)
  const { entityId, id: resourceId } = wire
  const type = `${resourceOf(wire)}.corrected`
  await recordChanges(db, nowMs, [
    { entityId, actor: by, requestId, resourceId, type, data: { transactionHash } },
  ])
  return true
}

/** The resource that the API shows. */
const resourceOf = ({ redemptionId }: Pick<Wire, 'redemptionId'>) =>
  redemptionId === null ? 'deposit' : 'return'

/**
 * Ends the mint of a wire with the transaction that made its coins. Without one a deposit fails, and a return, which its owner has
 * paid for, is minted again.
 */
export async function endWire(
  tx: Db,
  nowMs: number,
  wire: Wire,
  transactionHash: string | undefined,
): Promise<void> {
  const lost = wire.redemptionId === null ? 'failed' : 'waiting'
  const state = transactionHash === undefined ? lost : 'minted'
  await endMint(tx, wire, state, { transactionHash, at: formatInstant(nowMs) })
  if (state !== 'failed') return
  const { entityId, id: resourceId } = wire
  await recordChanges(tx, nowMs, [
    { entityId, actor, type: 'deposit.failed', resourceId, data: { status: 'failed' } },
  ])
}

/**
 * Credits the wallets with wires whose coins reached the treasury in a block up to `completeTo`. Where the treasury has paid gas with
 * them before they were named, they wait until it is funded.
 */
export async function creditWires(
  tx: Db,
  nowMs: number,
  blockchain: string,
  completeTo: number,
): Promise<void> {
  const arrived = await coveredWires(tx, nowMs, await lockArrivedWires(tx, blockchain, completeTo))
  await setWires(tx, arrived, 'complete', formatInstant(nowMs))
  await bookWires(tx, nowMs, arrived, 'complete')
}

/** The wires whose coins are still there, in their order. */
async function coveredWires(tx: Db, nowMs: number, wires: readonly Wire[]): Promise<Wire[]> {
  const left = new Map<string, bigint>()
  const covered: Wire[] = []
  for (const wire of wires) {
    const { unit, amountAtomic } = coinsOf(wire, wire.amount)
    if (unit.tokenId !== undefined) {
      const { entityId, blockchain, address } = wire
      const free =
        left.get(entityId) ??
        (await availableForFees(tx, nowMs, { entityId, blockchain, address, tokenId: unit.tokenId }))
      if (free < amountAtomic) continue
      left.set(entityId, free - amountAtomic)
    }
    covered.push(wire)
  }
  return covered
}

/** The coins of a wire in the unit in which they are unclaimed. */
function coinsOf({ blockchain, address: treasury, currency }: Wire, amount: bigint): UnclaimedCoins {
  const network = requireNetwork(blockchain)
  const token = stablecoinIn(network, currency)
  if (!token || !paysForGas(network, token.id)) return { treasury, unit: { currency }, amountAtomic: amount }
  return { treasury, unit: { tokenId: token.id }, amountAtomic: bookedAmount(network, token.id, amount) }
}

/** Reverts the credits of wires whose coins were in an orphaned block. */
export async function revertWires(
  tx: Db,
  nowMs: number,
  transfers: readonly ObservedTransfer[],
): Promise<void> {
  const coming = transfers.filter(({ direction, purpose }) => direction === 'in' && purpose === 'treasury')
  if (coming.length === 0) return
  const credited = await lockCompleteWires(tx, coming)
  await setWires(tx, credited, 'minted', formatInstant(nowMs))
  await bookWires(tx, nowMs, credited, 'pending')
}

async function bookWires(
  tx: Db,
  nowMs: number,
  wires: readonly Wire[],
  status: 'complete' | 'pending',
): Promise<void> {
  const isCredit = status === 'complete'
  await post(
    tx,
    nowMs,
    wires.map((wire) => {
      const { entityId, id, currency } = wire
      const amount = isCredit ? wire.amount : -wire.amount
      return {
        entityId,
        blockchain: '',
        blockHash: '',
        fact: `deposit:${id}${isCredit ? '' : ':orphaned'}`,
        entries: claimedEntries(coinsOf(wire, amount), merchantWalletIdOf(entityId), currency, amount),
      }
    }),
  )
  await recordChanges(
    tx,
    nowMs,
    wires.map((wire) => {
      const { entityId, id: resourceId } = wire
      return { entityId, actor, type: `${resourceOf(wire)}.${status}`, resourceId, data: { status } }
    }),
  )
}

/** Credits wires whose block was complete before the hash of their mint was stored; new blocks credit all others. */
export async function creditMintedWires(ctx: EngineCtx): Promise<void> {
  for (const { network, local } of ctx.chains.list()) {
    if (!local) continue
    const { blockchain } = network
    const completeTo = await highestComplete(ctx.database, blockchain)
    await ctx.database.tx((tx) => creditWires(tx, ctx.clock.nowMs(), blockchain, completeTo))
  }
}

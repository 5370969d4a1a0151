import type { Network } from '#chains/networks/index'
import type { EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import type { ObservedTransfer } from '#engines/indexer/observed/index'
import { claimedEntries, post } from '#engines/ledger/index'
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
  type FiatDeposit,
  insertWire,
  lockArrivedWires,
  lockCompleteWires,
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
}

/** Accepts a wire: its amount is minted to the entity's treasury on a chain, and credited when the mint is complete. */
export async function acceptWire(ctx: EngineCtx, input: NewWire): Promise<FiatDeposit> {
  const { entityId, network, currency, amount, decimals, trackingRef, accountNumber } = input
  const { blockchain, address } = await requireTreasury(ctx, entityId, network)
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const walletId = merchantWalletIdOf(entityId)
  const id = newId(nowMs)
  const deposit = { entityId, id, walletId, currency, decimals, amount, createDate, updateDate: createDate }
  await insertWire(ctx.db, { ...deposit, blockchain, address, trackingRef, accountNumber })
  await announceWire(ctx.db)
  const data = { amount: String(amount), currency }
  const by = { entityId, actor: input.actor, requestId: input.requestId, resourceId: id }
  await recordChanges(ctx.db, nowMs, [{ ...by, type: 'deposit.pending', data }])
  return { ...deposit, status: 'pending' }
}

/** Credits the wallets with wires whose coins reached the treasury in a block up to `completeTo`. */
export async function creditWires(
  tx: Db,
  nowMs: number,
  blockchain: string,
  completeTo: number,
): Promise<void> {
  const arrived = await lockArrivedWires(tx, blockchain, completeTo)
  await setWires(tx, arrived, 'complete', formatInstant(nowMs))
  await bookWires(tx, nowMs, arrived, 'complete')
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
    wires.map(({ entityId, id, currency, address, amount }) => ({
      entityId,
      blockchain: '',
      blockHash: '',
      fact: `deposit:${id}${isCredit ? '' : ':orphaned'}`,
      entries: claimedEntries(address, merchantWalletIdOf(entityId), currency, isCredit ? amount : -amount),
    })),
  )
  await recordChanges(
    tx,
    nowMs,
    wires.map(({ entityId, id: resourceId }) => {
      return { entityId, actor, type: `deposit.${status}`, resourceId, data: { status } }
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

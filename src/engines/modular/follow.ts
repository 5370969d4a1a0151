import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import { type ObservedOperation, observedOperationsOf } from '#engines/indexer/observed/index'
import type { Ref } from '#engines/transactions/index'
import {
  countWholly,
  endOperations,
  reviveOperations,
  takeEndedExternal,
} from '#engines/transactions/operations/index'
import type { Db } from '#runtime/db/db'
import { bindByBlock } from './mappings.ts'
import { noteUserOperations } from './note-changes.ts'
import { unbindBlock } from './store/mappings.ts'
import {
  completeOperationsUpTo,
  failUnsentOperations,
  markOperationsMined,
  markOperationsReplaced,
  returnOperationsToSent,
} from './store/user-operations.ts'
import { recordTransfers, revertTransfers } from './transfers.ts'

/** Applies one step of the feed to the operations and transfers of modular wallets. */
export async function followStepForModularWallets(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const { kind, blockchain, blockHash, completeTo } = step
  if (kind === 'undone') {
    const returned = await returnOperationsToSent(tx, ctx.clock.nowMs(), blockchain, blockHash)
    const sent = returned.filter(({ state }) => state === 'SENT')
    await reviveOperations(tx, sent)
    await noteByState(ctx, tx, returned)
    await unbindBlock(tx, blockchain, blockHash)
    return revertTransfers(ctx, tx, step)
  }
  const seen = await observedOperationsOf(tx, blockchain, blockHash)
  if (seen.length > 0) await confirm(ctx, tx, seen)
  await bindByBlock(ctx, tx, step)
  const completed = await completeOperationsUpTo(tx, ctx.clock.nowMs(), blockchain, completeTo)
  await noteUserOperations(ctx, tx, completed, 'COMPLETE')
  await recordTransfers(ctx, tx, step, seen)
}

async function confirm(ctx: EngineCtx, tx: Db, seen: readonly ObservedOperation[]): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const mined = await markOperationsMined(tx, nowMs, seen)
  const replaced = await markOperationsReplaced(tx, nowMs, seen)
  await endOperations(tx, [...mined, ...replaced])
  await noteByState(ctx, tx, mined)
  await noteUserOperations(ctx, tx, replaced, 'FAILED')
}

/** Records the states that operations are in now. */
async function noteByState(
  ctx: EngineCtx,
  tx: Db,
  rows: readonly (Ref & { state: string })[],
): Promise<void> {
  for (const state of new Set(rows.map((row) => row.state)))
    await noteUserOperations(
      ctx,
      tx,
      rows.filter((row) => row.state === state),
      state,
    )
}

/** Fails the operations that no bundle will carry; there are no more of them than sponsorships allow. */
export const failEnded = (ctx: EngineCtx, blockchain: string): Promise<boolean> =>
  ctx.database.tx(async (tx) => {
    const ended = await takeEndedExternal(tx, blockchain)
    if (ended.length === 0) return false
    const nowMs = ctx.clock.nowMs()
    const failed = await failUnsentOperations(tx, nowMs, ended)
    await countWholly(
      tx,
      nowMs,
      blockchain,
      ended.filter(({ spoiledBundles }) => spoiledBundles),
    )
    await noteUserOperations(ctx, tx, failed, 'FAILED')
    return false
  })
